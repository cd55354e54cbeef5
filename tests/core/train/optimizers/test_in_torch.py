"""What torch's own optimizers, schedulers and clipping do, beside closed forms."""

import math

import pytest

from core.train.optimizers.in_torch import (
    NUM_PARAMS,
    clipped_norms,
    gradient_bytes,
    largest_deviations,
    scheduled_rates,
    state_bytes,
)
from core.train.optimizers.rule import NAMED


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


def test_adam_keeps_two_numbers_a_weight_momentum_one_and_sgd_none():
    held = {row.name: row.per_parameter for row in state_bytes()}
    assert list(held) == list(NAMED)
    assert (held["SGD"], held["Momentum"], held["AdaGrad"], held["AdamW"], held["Muon"]) == (
        0, 4, 4, 8, 4,
    )  # fmt: skip


def test_gradients_set_to_none_are_freed_and_zeros_are_kept():
    assert gradient_bytes(set_to_none=True) == 0
    assert gradient_bytes(set_to_none=False) == 4 * NUM_PARAMS


def test_the_warm_up_is_a_line_from_a_hundredth_and_the_cosine_ends_at_the_lowest_rate():
    rates = scheduled_rates("warmup", 1000, 200)
    assert len(rates) == 1001
    for step in range(200):
        assert rates[step] == pytest.approx(1e-3 * (0.01 + 0.99 * step / 200), rel=1e-9)
    for step in range(200, 1001):
        wave = 1 + math.cos(math.pi * (step - 200) / 800)
        assert rates[step] == pytest.approx(1e-5 + (1e-3 - 1e-5) * wave / 2, rel=1e-9)


def test_step_lr_falls_by_ten_every_ten_epochs():
    rates = scheduled_rates("step", 30, 10)
    for epoch, rate in enumerate(rates):
        assert rate == pytest.approx(1e-3 * 0.1 ** (epoch // 10), rel=1e-9), epoch


def test_a_cosine_of_10_epochs_climbs_back_in_20():
    rates = scheduled_rates("cosine", 20, 10)
    assert rates[10] == pytest.approx(0, abs=1e-12)
    assert rates[20] == pytest.approx(1e-3, rel=1e-9)
    assert min(scheduled_rates("cosine", 20, 20)[:-1]) > 0
