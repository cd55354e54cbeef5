from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.optim.lr_scheduler import CosineAnnealingLR

from core.train.config import SCHEDULES, TrainConfig
from core.train.learning.schedule import (
    batch_positions,
    scheduled_learning_rate,
    validation_positions,
)

CONFIG = TrainConfig(num_steps=110, warmup_steps=10, learning_rate=1e-2, min_learning_rate=1e-3)


@given(st.integers(0, 2**31 - 1), st.integers(1, 10**7), st.integers(9, 10**6))
def test_every_sequence_and_its_target_lie_inside_the_text(seed, step, num_tokens):
    starts = batch_positions(seed, step, 32, num_tokens, 8)
    assert starts.min() >= 0
    assert starts.max() + 8 + 1 <= num_tokens


@given(st.integers(0, 2**31 - 1), st.integers(1, 10**7))
def test_a_batch_depends_on_seed_and_step_only(seed, step):
    once = batch_positions(seed, step, 16, 10**6, 64)
    np.random.default_rng().random(3)
    assert np.array_equal(once, batch_positions(seed, step, 16, 10**6, 64))
    assert not np.array_equal(once, batch_positions(seed, step + 1, 16, 10**6, 64))
    assert not np.array_equal(once, batch_positions(seed + 1, step, 16, 10**6, 64))


@given(st.integers(1, 500), st.integers(10, 10**6))
def test_validation_looks_at_the_same_places_from_end_to_end(count, num_tokens):
    starts = validation_positions(count, num_tokens, 8)
    assert starts[0] == 0
    assert starts.max() + 8 + 1 <= num_tokens
    assert count == 1 or starts[-1] == num_tokens - 9


def test_warm_up_climbs_in_equal_steps_to_the_highest_rate():
    rates = [scheduled_learning_rate(CONFIG, step) for step in range(1, 11)]
    assert rates == pytest.approx([1e-2 * step / 11 for step in range(1, 11)])


def test_the_cosine_is_torchs_own():
    weight = torch.nn.Parameter(torch.zeros(1))
    sgd = torch.optim.SGD([weight], lr=1e-2)
    oracle = CosineAnnealingLR(sgd, T_max=100, eta_min=1e-3)
    for step in range(10, 111):
        rate = scheduled_learning_rate(CONFIG, step) if step > 10 else 1e-2
        assert rate == pytest.approx(oracle.get_last_lr()[0], rel=1e-9), step
        sgd.step()
        oracle.step()


def timed(**changes):
    return replace(CONFIG, max_seconds=60.0, **changes)


def test_a_machine_that_keeps_the_pace_learns_by_steps_alone():
    """A minute's plan fills 54 of its 60 s: 110 steps, the first after half a second."""
    for step in range(1, 111):
        seconds = 0.5 + 53.5 * (step - 1) / 110
        assert scheduled_learning_rate(timed(), step, seconds) == scheduled_learning_rate(
            CONFIG, step
        ), step


def test_a_run_that_its_time_ends_early_comes_down_to_the_lowest_rate_all_the_same():
    rates = [scheduled_learning_rate(timed(), step, 2.0 * (step - 1)) for step in range(1, 32)]
    assert max(rates) == pytest.approx(rates[10], rel=0.1)  # behind the warm-up's ten steps
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert scheduled_learning_rate(CONFIG, 31) > 0.9e-2  # by its steps alone it had just begun
    assert rates[-1] == pytest.approx(CONFIG.min_learning_rate)  # the step at 60 s


def test_time_that_outruns_even_the_warm_up_ends_it():
    rates = [scheduled_learning_rate(timed(warmup_steps=50), step, 6.0 * step) for step in (5, 9)]
    assert rates[0] == pytest.approx(1e-2 * 5 / 51)
    assert rates[1] < 1e-2 * 9 / 51
    assert scheduled_learning_rate(timed(warmup_steps=50), 10, 60.0) == CONFIG.min_learning_rate


def test_every_schedule_begins_at_its_peak_and_comes_down_in_its_own_way():
    rates = {
        name: [
            scheduled_learning_rate(
                TrainConfig(
                    schedule=name,
                    num_steps=100,
                    warmup_steps=0,
                    learning_rate=1.0,
                    min_learning_rate=0.001,
                ),
                step,
            )
            for step in (1, 25, 49, 50, 75, 100)
        ]
        for name in SCHEDULES
    }
    assert all(each[0] == pytest.approx(1.0, abs=0.02) for each in rates.values())
    assert rates["constant"] == [1.0] * 6
    assert rates["linear"][3] == pytest.approx(0.5005)
    assert rates["step"] == pytest.approx([1.0, 1.0, 1.0, 0.1, 0.01, 0.01])
    ends = {name: each[-1] for name, each in rates.items()}
    assert ends == pytest.approx({"cosine": 0.001, "linear": 0.001, "constant": 1.0, "step": 0.01})
