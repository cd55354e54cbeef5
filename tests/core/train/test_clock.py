import itertools
import time

import pytest

from core.train.clock import RunClock
from core.train.progress import seconds_per_step
from core.train.store import RunStore


@pytest.fixture
def set_clocks(monkeypatch):
    """Return set(wall, monotonic)."""

    def to(wall, monotonic):
        monkeypatch.setattr(time, "time", lambda: wall)
        monkeypatch.setattr(time, "monotonic", lambda: monotonic)

    return to


def test_it_is_the_wall_clock_while_that_goes_forwards(set_clocks):
    set_clocks(1000.0, 5.0)
    clock = RunClock()
    assert clock.now() == 1000.0
    set_clocks(1002.5, 7.5)
    assert clock.now() == 1002.5
    # a laptop that slept for an hour: the wall clock knows it
    set_clocks(4600.0, 8.0)
    assert clock.now() == 4600.0


def test_a_clock_set_back_by_an_hour_costs_no_second_and_makes_no_time_negative(set_clocks):
    set_clocks(10_000.0, 0.0)
    clock = RunClock()
    assert clock.now() == 10_000.0
    set_clocks(6_401.0, 1.0)
    assert clock.now() == 10_001.0
    set_clocks(6_403.5, 3.5)
    assert clock.now() == 10_003.5


def test_a_resume_after_the_clock_was_set_back_goes_on_behind_the_last_record(
    run_directory, make_record, set_clocks
):
    set_clocks(5_000.0, 0.0)
    with RunStore(run_directory) as store:
        store.append_step(make_record(1, time=store.clock.now()))
        store.append_event("eval", 1, validation_loss=2.0)
    set_clocks(1_000.0, 9.0)
    with RunStore(run_directory, attempt=2) as store:
        assert store.clock.now() == 5_000.0
        set_clocks(1_000.5, 9.5)
        assert store.clock.now() == 5_000.5


def test_whatever_the_clock_does_no_rate_is_negative(monkeypatch):
    jumps = itertools.accumulate([0.1] * 20 + [-3600.0] + [0.1] * 20 + [86_400.0] + [0.1] * 20)
    walls, ticks = iter(jumps), itertools.count()
    monkeypatch.setattr(time, "time", lambda: 1e9 + next(walls))
    monkeypatch.setattr(time, "monotonic", lambda: 0.1 * next(ticks))
    clock = RunClock()
    times = [clock.now() for _step in range(62)]
    assert times == sorted(times)
    for end in range(2, 63):
        assert seconds_per_step(list(range(1, end + 1)), times[:end]) == pytest.approx(
            0.1, abs=0.02
        )
