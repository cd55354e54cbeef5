"""The tensors to quantize."""

import numpy as np
import pytest

from core.dtypes.blocks.sample_tensors import SAMPLES, SPREAD, sample_tensor


@pytest.mark.parametrize("name", SAMPLES)
def test_the_same_seed_gives_the_same_tensor(name):
    one, same = sample_tensor(name, (40, 50), 3), sample_tensor(name, (40, 50), 3)
    assert one.dtype == np.float32
    assert one.shape == (40, 50)
    np.testing.assert_array_equal(one, same)
    if name != "all_zero":
        assert (one != sample_tensor(name, (40, 50), 4)).any()


def test_the_samples_are_spread_as_they_say():
    normal, heavy, outliers, laplace, zero = (sample_tensor(name, (1 << 16,)) for name in SAMPLES)
    assert normal.std() == pytest.approx(SPREAD, rel=0.02)
    assert laplace.std() == pytest.approx(SPREAD, rel=0.02)
    assert np.abs(heavy).max() > 10 * SPREAD > np.abs(normal).max()
    num_outliers = int((np.abs(outliers) > 6 * SPREAD).sum())
    assert (
        40 < num_outliers < 80
    )  # 65 of 65,536 are 50 times as large; most are then beyond 6 sigma
    assert not zero.any()


def test_an_unknown_name_or_too_large_a_shape_says_so():
    with pytest.raises(ValueError, match=r"Sample tensor uniform is not known: use normal, heavy_"):
        sample_tensor("uniform")
    with pytest.raises(
        ValueError, match=r"of 16,777,217 values is too large: use at most 16,777,216"
    ):
        sample_tensor("normal", (1 << 24 | 1,))
