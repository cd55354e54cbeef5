"""What a student's own run may take, that it is marked, and that old ones go."""

import json
from dataclasses import replace

import pytest

from core.train import sandbox
from core.train.config import TrainConfig
from core.train.device_lock import DeviceBusyError, hold_device
from core.train.listing import list_runs, newest_run
from core.train.rundir import runs_directory
from core.train.sandbox import (
    MAX_SECONDS,
    MAX_STEPS,
    capped,
    caps_sentence,
    check_sandbox,
    start_sandbox_run,
    sweep_sandbox,
)

SMALL = TrainConfig(num_layers=1, hidden_dim=32, num_heads=2, seq_len=16, batch_size=2)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"hidden_dim": 512, "num_layers": 6},
            r"may have 1\.00 M parameters; this one has 19\.0 M",
        ),
        ({"batch_size": 1024}, "may take 16,384 tokens a step; this one takes 65,536"),
        ({"corpus": "upload"}, "not from a file"),
    ],
)
def test_what_is_too_large_is_refused_with_both_numbers(changes, sentence):
    config = TrainConfig(num_layers=2, hidden_dim=64, num_heads=4, seq_len=64)
    with pytest.raises(ValueError, match=sentence):
        check_sandbox(replace(config, **changes))


def test_the_reference_model_of_a_minute_is_allowed():
    check_sandbox(TrainConfig())


@pytest.mark.parametrize("seconds_per_step", [1e-5, 0.01, 0.2, 3.0])
def test_steps_are_capped_by_number_and_by_seconds(seconds_per_step):
    config = capped(TrainConfig(num_steps=10_000_000, max_steps_per_second=0.1), seconds_per_step)
    assert 1 <= config.num_steps <= MAX_STEPS
    # The preset never goes below ten steps.
    assert config.num_steps * seconds_per_step <= max(MAX_SECONDS, 10 * seconds_per_step)
    assert config.max_steps_per_second is None, "a governed run would hold the device for hours"


def test_a_shorter_wish_stays_as_it_is():
    assert capped(replace(SMALL, num_steps=7), 0.01).num_steps == 7


def test_the_caps_are_said():
    assert "1.00 M parameters, 1,000 steps and 1 min 00 s" in caps_sentence()


@pytest.fixture
def no_worker(monkeypatch, made_timing):
    """Make the run directory, but start no process."""
    spawned = []
    monkeypatch.setattr(sandbox, "timing_for", lambda _prepared: made_timing)
    monkeypatch.setattr(sandbox, "spawn_worker", spawned.append)
    return spawned


def test_a_run_is_marked_and_never_the_one_that_all_follow(no_worker):
    directory = start_sandbox_run(replace(SMALL, num_steps=5))
    assert no_worker == [directory]
    assert json.loads((directory / "run.json").read_text(encoding="utf-8"))["sandbox"] is True
    assert [run.name for run in list_runs(runs_directory())] == [directory.name]
    assert newest_run(runs_directory()) is None


def test_while_the_class_trains_nothing_is_started_or_timed(no_worker, monkeypatch):
    monkeypatch.setattr(sandbox, "timing_for", lambda _prepared: pytest.fail("timed"))
    with (
        hold_device("cpu", "20260102t030405z-class-00ff"),
        pytest.raises(DeviceBusyError, match="20260102t030405z-class-00ff"),
    ):
        start_sandbox_run(SMALL)
    assert no_worker == []


def test_only_the_newest_students_runs_are_kept_and_the_class_s_are_left_alone(no_worker):
    made = [start_sandbox_run(replace(SMALL, num_steps=5, name=f"n{i}")) for i in range(4)]
    for directory in made[:3]:
        state = {"state": "finished", "step": 5, "attempt": 1, "pid": 1, "time": 1.0}
        (directory / "state.json").write_text(json.dumps(state), encoding="utf-8")
    lesson = json.loads((made[0] / "run.json").read_text(encoding="utf-8"))
    (made[0] / "run.json").write_text(json.dumps(lesson | {"sandbox": False}), encoding="utf-8")

    sweep_sandbox(num_kept=1)

    left = {run.name for run in list_runs(runs_directory())}
    assert made[0].name in left, "not a student's"
    assert made[3].name in left, "not finished"
    assert len(left) in {2, 3}  # which of the others is the newest is decided by the same second
