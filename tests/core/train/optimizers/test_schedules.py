"""Schedules, beside their closed forms."""

import math

import pytest

from core.train.optimizers.schedules import cosine, step_decay, warmup_then_cosine


def test_the_warm_up_is_a_line_from_a_hundredth_and_the_cosine_ends_at_the_lowest_rate():
    rates = warmup_then_cosine(1000, 200)
    assert len(rates) == 1001
    for step in range(200):
        assert rates[step] == pytest.approx(1e-3 * (0.01 + 0.99 * step / 200), rel=1e-9)
    for step in range(200, 1001):
        wave = 1 + math.cos(math.pi * (step - 200) / 800)
        assert rates[step] == pytest.approx(1e-5 + (1e-3 - 1e-5) * wave / 2, rel=1e-9)


@pytest.mark.parametrize("warmup", [0, 10, 11])
def test_a_warm_up_leaves_a_step_for_the_cosine(warmup):
    with pytest.raises(ValueError, match=f"takes 1 to 9 steps, not {warmup}"):
        warmup_then_cosine(10, warmup)


def test_step_lr_falls_by_ten_every_ten_epochs():
    rates = step_decay(30)
    for epoch, rate in enumerate(rates):
        assert rate == pytest.approx(1e-3 * 0.1 ** (epoch // 10), rel=1e-9), epoch


def test_a_cosine_of_10_epochs_climbs_back_in_20():
    rates = cosine(20, 10)
    assert rates[10] == pytest.approx(0, abs=1e-12)
    assert rates[20] == pytest.approx(1e-3, rel=1e-9)
    assert min(cosine(20, 20)[:-1]) > 0
