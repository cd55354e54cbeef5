import itertools

import numpy as np
import pytest

from core.train.run.reader import RunReader
from core.train.run.replay import LONGEST_WAIT, Place, Replay, ReplayReader, read_speed
from core.train.run.state import RunState, write_state
from core.train.run.store import RunStore

NUM_STEPS = 50


@pytest.fixture
def finished_run(run_directory, make_record):
    """50 steps half a second apart; a checkpoint, a pause, a command, a resume next morning."""
    with RunStore(run_directory) as store:
        at(store, 0.0).append_event("state", 0, state="running", reason="", message="")
        for step in range(1, NUM_STEPS + 1):
            later = 60_000.0 if step > 40 else 0.0
            store.attempt = 2 if later else 1
            store.append_step(make_record(step, time=1e9 + step / 2 + later))
            if step == 20:
                half = {"op": "set_learning_rate_multiplier", "value": 0.5, "accepted": True}
                at(store, 10.0).append_event("ack", 21, command=1, reason="", **half)
            if step % 10 == 0:
                at(store, step / 2 + later).append_event("eval", step, validation_loss=3.0)
        at(store, 60_025.0).append_event("state", 50, state="finished", reason="", message="")
    write_state(run_directory, RunState(state="finished", step=NUM_STEPS, attempt=2))
    return run_directory


def at(store, seconds):
    """Let the store's clock stand at some seconds of the run."""
    store.clock.now = lambda: 1e9 + seconds
    return store


def whole(directory):
    return RunReader(directory).read_new()


def make_replay(directory):
    everything = whole(directory)
    return Replay(everything.records, everything.events, RunReader(directory).read_state())


def test_whatever_the_looks_together_they_show_the_run_once_and_in_order(finished_run):
    replay, everything = make_replay(finished_run), whole(finished_run)
    chance = np.random.default_rng(0)
    for _time in range(20):
        looks = [*np.sort(chance.uniform(0, replay.seconds, 30)), replay.seconds]
        places = [Place(), *map(replay.place, looks)]
        parts = [replay.between(a, b) for a, b in itertools.pairwise(places)]
        assert np.array_equal(np.concatenate([p.records for p in parts]), everything.records)
        assert sum((p.events for p in parts), ()) == everything.events


def test_nothing_is_shown_before_its_time(finished_run):
    replay = make_replay(finished_run)
    for moment in (0.0, 0.4, 5.0, 9.99, 17.3):
        shown = replay.between(Place(), replay.place(moment))
        assert all(shown.records["time"] <= 1e9 + moment)
        assert all(event["time"] <= 1e9 + moment for event in shown.events)
        assert len(shown.records) == int(moment * 2)


def test_the_night_between_crash_and_resume_is_cut_short(finished_run):
    replay = make_replay(finished_run)
    assert replay.seconds == pytest.approx(20.0 + LONGEST_WAIT + 4.5)


def test_the_state_is_that_of_the_moment(finished_run):
    replay = make_replay(finished_run)
    assert replay.state(Place()).state == "starting"
    early, late = replay.state(replay.place(5.0)), replay.state(replay.place(12.0))
    assert (early.state, early.step, early.learning_rate_multiplier) == ("running", 10, 1.0)
    assert (late.state, late.step, late.learning_rate_multiplier) == ("running", 24, 0.5)
    assert replay.state(replay.place(replay.seconds)).state == "finished"
    assert replay.state(replay.place(replay.seconds - 2)).attempt == 2


def test_a_clock_that_went_back_does_not_change_the_order(make_record, run_directory):
    with RunStore(run_directory) as store:
        for step, time in enumerate([1e9, 1e9 + 1, 1e9 - 3600, 1e9 + 2], start=1):
            store.append_step(make_record(step, time=time))
    replay = make_replay(run_directory)
    counts = [replay.place(moment).num_records for moment in np.linspace(0, replay.seconds, 50)]
    assert counts == sorted(counts)
    assert counts[-1] == 4


def test_ten_seconds_at_speed_ten_show_a_hundred_seconds_of_the_run(finished_run):
    now = [100.0]
    reader = ReplayReader(finished_run, 10.0, clock=lambda: now[0])
    assert reader.info == RunReader(finished_run).info
    assert len(reader.read_new().records) == 0
    now[0] += 1.0
    assert len(reader.read_new().records) == 20
    assert reader.read_state().step == 20
    assert len(reader.read_new().records) == 0
    now[0] += 100.0
    assert reader.moment == 1010.0
    assert len(reader.read_new().records) == 30
    assert reader.read_state() == RunReader(finished_run).read_state()


@pytest.mark.parametrize("speed", [0.5, 61.0, float("nan"), -1.0])
def test_a_speed_out_of_range_is_refused(finished_run, speed):
    with pytest.raises(ValueError, match="choose a number from 1 to 60"):
        read_speed(speed)
    with pytest.raises(ValueError, match=f"The replay speed is {speed}"):
        ReplayReader(finished_run, speed)


def test_a_run_that_goes_on_is_not_replayed(run_directory, living_worker):
    write_state(run_directory, RunState(state="running", pid=1))
    with living_worker(run_directory), pytest.raises(ValueError, match="has not ended"):
        ReplayReader(run_directory, 1.0)


def test_an_empty_run_is_replayed_at_once(run_directory):
    write_state(run_directory, RunState(state="stopped"))
    reader = ReplayReader(run_directory, 1.0)
    assert reader.replay.seconds == 0.0
    assert reader.read_state().state == "stopped"
