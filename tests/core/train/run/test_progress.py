"""What a run's numbers say so far."""

import itertools
import math
import statistics

import pytest

from core.train.run.progress import (
    References,
    axis_unit,
    half_life,
    learning_sentence,
    own_pace,
    seconds_left,
    seconds_per_step,
    smooth,
    stage,
    word_sentence,
)

RUNGS = References(vocab_size=65, ln_vocab=math.log(65), unigram_entropy=3.3, bigram_entropy=2.4)


@pytest.mark.parametrize(
    ("loss", "reached"),
    [
        (None, "unknown"),
        (math.nan, "unknown"),
        (math.log(65), "worse"),
        (4.0, "guess"),
        (3.3, "guess"),
        (2.4, "frequencies"),
        (2.39, "context"),
    ],
)
def test_the_stage_is_the_lowest_rung_that_the_validation_loss_has_passed(loss, reached):
    assert stage(loss, RUNGS) == reached


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (4.0, ["4.00", f"{math.log(65) - 4.0:.2f}", "3.30"]),  # loss, distance and the next goal
        (1.9, ["Validation loss 1.90: 0.50 nats below"]),  # more context is used
        (None, ["No validation loss yet"]),
        (5.0, ["65 tokens"]),  # no better than a guess
    ],
)
def test_the_sentence_says_what_was_learnt(loss, words):
    assert all(word in learning_sentence(loss, RUNGS) for word in words)


def test_the_share_of_real_words_is_rounded_and_empty_without_words():
    assert word_sentence(3, 2).startswith("67 %")
    assert word_sentence(0, 0) == ""


def test_smoothing_over_every_second_step_fades_twice_as_fast_as_over_every_step():
    """Two steps at once must leave of the old average what two single steps leave."""
    dense = smooth([1, 2, 3], [1.0, 0.0, 0.0], num_steps=100)
    sparse = smooth([1, 3], [1.0, 0.0], num_steps=100)
    assert dense[2] == pytest.approx(sparse[1])


def test_smoothing_leaves_out_what_is_missing_or_not_finite():
    assert smooth([1, 2, 3, 4], [2.0, None, math.inf, 2.0], 100) == [2.0, None, None, 2.0]


def test_the_half_life_grows_with_the_run_and_ends_at_a_hundredth():
    lives = [half_life(step, 1000) for step in (1, 40, 100, 200, 1000)]
    assert lives == [2.0, 2.0, 5.0, 10.0, 10.0]


def test_the_seconds_per_step_are_the_median_of_the_gaps_and_forget_a_pause():
    steps = list(range(1, 30))
    times = [0.5 * step + (300 if step > 20 else 0) for step in steps]
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert seconds_per_step(steps, times) == statistics.median(gaps) == 0.5


def test_the_time_left_follows_the_speed_limit():
    assert seconds_left(3600, 0.01) == pytest.approx(36)
    assert seconds_left(3600, 0.01, max_steps_per_second=0.5) == pytest.approx(7200)
    assert seconds_left(3600, 0.01, max_steps_per_second=1000.0) == pytest.approx(36)


def test_the_time_left_ends_at_the_time_limit_or_the_last_step_whichever_comes_first():
    assert seconds_left(3600, 0.01, trained_seconds_left=20.0) == pytest.approx(20)
    assert seconds_left(3600, 0.01, trained_seconds_left=50.0) == pytest.approx(36)
    assert seconds_left(10, 0.01, trained_seconds_left=-1.0) == 0


def test_only_the_machines_own_time_counts_while_a_speed_limit_holds_it_back():
    """20 s are 2,000 steps of 10 ms; at 2 steps/s they last 1,000 s."""
    assert seconds_left(3600, 0.01, 2.0, trained_seconds_left=20.0) == pytest.approx(1000)


def test_the_own_pace_is_the_noted_time_by_step_and_else_that_of_the_records():
    assert own_pace(12.0, 600, [1, 2], [0.0, 2.0]) == pytest.approx(0.02)
    assert own_pace(0.0, 600, [1, 2], [0.0, 2.0]) == 2.0
    assert own_pace(0.0, 0, [], []) is None


def test_neither_one_record_nor_a_step_done_again_after_a_resume_makes_a_gap():
    assert seconds_per_step([], []) is None
    assert seconds_per_step([1], [0.0]) is None
    assert seconds_per_step([9, 10, 10, 11], [1.0, 2.0, 9.0, 10.0]) == 1.0


@pytest.mark.parametrize(
    ("num_bytes", "unit", "expected"),
    [
        (0, "GiB", (1024, "KiB")),
        (1024**2, "GiB", (1024**2, "MiB")),
        (1024**3, "GiB", (1024**3, "GiB")),
        (10**9, "GB", (10**9, "GB")),
        (999_999, "GB", (1000, "kB")),
    ],
)
def test_the_axis_has_the_unit_of_its_largest_value(num_bytes, unit, expected):
    assert axis_unit(num_bytes, unit) == expected
