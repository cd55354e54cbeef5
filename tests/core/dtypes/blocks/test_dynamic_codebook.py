"""The 8-bit dynamic codebook; bitsandbytes' own table is compared in test_block_bitsandbytes."""

import numpy as np

from core.dtypes.blocks.dynamic_codebook import DYNAMIC8, decade_means


def test_every_decade_has_twice_as_many_numbers_as_the_one_below():
    values = np.array(DYNAMIC8.values)
    for decade in range(7):
        low, high = 10.0 ** (decade - 7), 10.0 ** (decade - 6)
        inside = (values > low) & (values < high)
        assert inside.sum() == 2**decade, decade
        assert ((values < -low) & (values > -high)).sum() == 2**decade
    assert len(values) == 256
    assert {0.0, 1.0} <= set(values)
    assert values.min() > -1  # one number has no mirror image: the codes are even in number


def test_the_numbers_of_a_decade_are_the_middles_of_equal_steps():
    np.testing.assert_allclose(decade_means(1), [0.55])
    np.testing.assert_allclose(decade_means(2), [0.325, 0.775])
    np.testing.assert_allclose(decade_means(64), 0.1 + 0.9 * (np.arange(64) + 0.5) / 64, rtol=1e-6)
