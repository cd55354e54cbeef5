"""How often each code is used: shares, entropy and the histogram of divided blocks."""

import numpy as np
import pytest

from core.dtypes.blocks.code_use import (
    block_histogram,
    code_shares,
    entropy_bits,
    make_code_use,
)


def test_nf4_spreads_normal_values_more_evenly_over_its_codes_than_even_steps_do():
    use = make_code_use(np.random.default_rng(0).normal(size=(64, 256)))

    assert use.nf4.sum() == pytest.approx(1.0)
    assert use.int4.sum() == pytest.approx(1.0)
    assert 3.7 < use.nf4_bits <= 4
    assert use.int4_bits < use.nf4_bits - 0.1
    assert use.int4.argmax() == 7, "the step of zero"


def test_zeros_use_one_code():
    use = make_code_use(np.zeros((2, 64)))

    assert (use.nf4_bits, use.int4_bits) == (0.0, 0.0)
    assert use.nf4[7] == use.int4[7] == 1.0


def test_the_histogram_of_blocks_has_area_one_and_every_block_reaches_its_end():
    values = np.random.default_rng(0).normal(size=(8, 640))

    edges, density = block_histogram(values)

    assert np.sum(density * np.diff(edges)) == pytest.approx(1.0)
    ends = (density[0] + density[-1]) * (edges[1] - edges[0])
    assert ends >= 1 / 64


@pytest.mark.parametrize(
    "values", [np.zeros((4, 64)), np.full((1, 64), np.nan), np.ones(5), np.zeros((0, 3))]
)
def test_blocks_of_zeros_of_nan_or_too_few_values_leave_the_histogram_empty(values):
    _edges, density = block_histogram(values)

    assert not density.any()


def test_shares_of_codes_add_up_and_equal_shares_carry_all_four_bits():
    codes = np.arange(16, dtype=np.uint8).repeat(3)

    shares = code_shares(codes, 16)

    assert shares.sum() == pytest.approx(1.0)
    assert entropy_bits(shares) == pytest.approx(4.0)
    assert entropy_bits(code_shares(codes[:0], 16)) == 0.0
