from dataclasses import replace

import pytest

from core.budget.by_hand.gpt import count_parameters
from core.train.start.presets import (
    DURATIONS,
    SIZES,
    find_duration,
    find_size,
    fit_steps,
    is_ended_by_time,
    predicted_seconds,
    preset_config,
)

# key: parameters that the name promises, for 65 characters (GPT-2's own 50,257 tokens for 124M)
NAMED = {
    "110k": 110e3,
    "0.5M": 0.45e6,
    "0.8M": 0.8e6,
    "3.2M": 3.2e6,
    "10.7M": 10.7e6,
    "25M": 25.3e6,
    "124M": 124e6,
}


@pytest.mark.parametrize("size", SIZES)
def test_sizes_hold_what_their_names_promise(size):
    config = preset_config("one_minute", size_key=size)
    vocab_size = 50_257 if size == "124M" else 65
    num_params = count_parameters(config.shape(vocab_size)).amount
    assert num_params == pytest.approx(NAMED[size], rel=0.03)


@pytest.mark.parametrize("duration", DURATIONS, ids=lambda duration: duration.key)
@pytest.mark.parametrize("seconds_per_step", [0.003, 0.012, 0.4])
def test_the_steps_fill_the_duration_and_no_more(duration, seconds_per_step):
    config = fit_steps(preset_config(duration.key), duration.seconds, seconds_per_step)
    predicted = predicted_seconds(config, seconds_per_step)
    assert duration.seconds - seconds_per_step * 2 <= predicted <= duration.seconds


def test_the_governor_counts_when_steps_are_fitted():
    config = replace(preset_config("one_minute"), max_steps_per_second=2.0)
    assert fit_steps(config, 60, 0.01).num_steps == 91  # (60 - 6) s x 0.85 x 2 / s
    assert predicted_seconds(replace(config, num_steps=10), 0.01) == pytest.approx(6 + 5 / 0.85)


def test_steps_that_take_longer_than_the_limit_do_not_lengthen_the_run():
    ten_slow_steps = fit_steps(preset_config("one_minute"), 60, 100)
    assert is_ended_by_time(ten_slow_steps, 100)
    assert predicted_seconds(ten_slow_steps, 100) == 6 + 60
    unlimited = replace(ten_slow_steps, max_seconds=None)
    assert predicted_seconds(unlimited, 100) == pytest.approx(6 + 1000 / 0.85)


def test_time_in_which_the_governor_holds_the_run_back_does_not_count():
    config = replace(preset_config("one_minute"), num_steps=2000, max_steps_per_second=2.0)
    assert predicted_seconds(config, 0.01) == pytest.approx(6 + 2000 * 0.5 / 0.85)
    slow = replace(config, num_steps=10_000)  # of which a minute of 10 ms a step lets 6,000 happen
    assert predicted_seconds(slow, 0.01) == pytest.approx(6 + 6000 * 0.5)


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="no preset 'a day'; choose one_minute, ten_minutes"):
        find_duration("a day")
    with pytest.raises(ValueError, match="no model size '7B'; choose 110k"):
        find_size("7B")
