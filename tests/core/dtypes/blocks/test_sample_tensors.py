"""The tensors to quantize."""

import numpy as np
import pytest

from core.dtypes.blocks.sample_tensors import (
    SAMPLE_NAMES,
    SPREAD,
    looked_at,
    teaching_tensor,
)


@pytest.mark.parametrize("name", SAMPLE_NAMES)
def test_the_same_seed_gives_the_same_tensor_and_another_another(name):
    one, same, other = (teaching_tensor(name, 64, seed) for seed in (7, 7, 8))
    assert (one.dtype, one.shape) == (np.float32, (64, 64))
    assert np.array_equal(one, same, equal_nan=True)
    assert np.array_equal(one, other) == (name in {"all_zero", "ramp"})
    assert int(np.isnan(one).sum()) == (name == "one_nan")


def test_the_samples_are_spread_as_they_say():
    names = ("normal", "heavy_tailed", "with_outliers", "laplace", "all_zero")
    normal, heavy, outliers, laplace, zero = (teaching_tensor(name, 256, 0) for name in names)
    assert normal.std() == pytest.approx(SPREAD, rel=0.02)
    assert laplace.std() == pytest.approx(SPREAD, rel=0.02)
    assert np.abs(heavy).max() > 10 * SPREAD > np.abs(normal).max()
    num_outliers = int((np.abs(outliers) > 6 * SPREAD).sum())
    assert (
        40 < num_outliers < 80
    )  # 65 of 65,536 are 50 times as large; most are then beyond 6 sigma
    assert not zero.any()


def test_every_block_of_the_ramp_rises_to_957():
    blocks = teaching_tensor("ramp", 64, 0).reshape(-1, 32)
    assert (blocks.max(axis=1) == 957).all()
    assert (np.diff(blocks, axis=1) > 0).all()


SHAPES = {(): (1, 1), (7,): (1, 7), (3, 5): (3, 5), (2, 3, 5): (6, 5), (1000, 1000): (262, 1000)}
SHAPES |= {(300_000,): (1, 1 << 18), (3, 0, 5): None, (0,): None}


@pytest.mark.parametrize(("shape", "expected"), SHAPES.items())
def test_a_tensor_is_looked_at_as_rows_and_columns(shape, expected):
    x = np.zeros(shape, dtype=np.float32)
    if expected is None:
        with pytest.raises(ValueError, match=r"holds no value; choose one with at least one"):
            looked_at(x)
    else:
        assert looked_at(x).shape == expected
        assert looked_at(x).dtype == np.float64
