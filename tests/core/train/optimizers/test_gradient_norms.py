"""Norms of gradients before and after they are clipped."""

import math

import pytest

from core.train.optimizers.gradient_norms import clipped_norms, largest_deviations


@pytest.mark.parametrize("limit", [1e-3, 0.1, 10.0])
def test_the_norm_of_all_gradients_is_cut_to_the_limit_and_a_smaller_one_is_left(limit):
    norms = clipped_norms(8, 1.5, limit)
    assert math.hypot(*norms.before) == pytest.approx(norms.total_before, rel=1e-5)
    assert norms.total_after == pytest.approx(min(norms.total_before, limit), rel=1e-4)
    for before, after in zip(norms.before, norms.after, strict=True):
        assert after == pytest.approx(before * norms.factor, rel=1e-4)


def test_small_weights_let_gradients_vanish_and_large_ones_let_them_explode():
    small, usual = clipped_norms(20, 0.3, 1.0).before, clipped_norms(20, 1.0, 1.0).before
    assert max(small) < min(usual) * 1e-6
    large = clipped_norms(40, 4.0, 1.0).before
    assert large[0] > large[-1] * 1000


def test_the_bounds_of_trunc_normal_are_absolute():
    uncut, cut = largest_deviations()
    assert uncut > 4
    assert 2.9 < cut <= 3
