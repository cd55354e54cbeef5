import errno
import itertools
import json
import os
import statistics
import time

import pytest

from core.train.run.disk import RunStorageError
from core.train.run.reader import RunReader
from core.train.run.store import RunClock, RunStore

FULL_DISK = """
import resource, sys
from pathlib import Path
from core.train.run.disk import RunStorageError
from core.train.run.records import StepRecord
from core.train.run.store import RunStore
resource.setrlimit(resource.RLIMIT_FSIZE, (64 + 80 * 3 + 33, resource.RLIM_INFINITY))
store = RunStore(Path(sys.argv[1]))
names = "time seconds loss learning_rate grad_norm tokens_per_second resident_bytes"
record = dict.fromkeys(names.split(), 1)
for step in range(1, 6):
    try:
        store.append_step(StepRecord(step=step, **record))
    except RunStorageError as error:
        print(step, error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
store.append_step(StepRecord(step=6, **record))
"""


def test_what_is_written_is_read_back(run_directory, make_record):
    with RunStore(run_directory, attempt=2) as store:
        for step in range(1, 6):
            store.append_step(make_record(step))
        assert store.append_event("eval", 5, validation_loss=3.5) == 0
        assert store.append_event("sample", 5, prompt="The", text="长\n\u2028") == 1
        store.sync()
    increment = RunReader(run_directory).read_new()
    assert increment.records["step"].tolist() == [1, 2, 3, 4, 5]
    assert set(increment.records["attempt"]) == {2}
    assert [event["kind"] for event in increment.events] == ["eval", "sample"]
    assert increment.events[1]["text"] == "长\n\u2028"
    assert increment.events[0].keys() >= {"seq", "time", "step", "attempt", "kind"}


def test_json_never_holds_nan_or_infinity(run_directory):
    with RunStore(run_directory) as store:
        store.append_event("eval", 1, validation_loss=float("nan"), parts=[float("inf"), 1.0])
        store.write_state("running", step=1, learning_rate_multiplier=float("inf"))
    for path in (run_directory / "events.jsonl", run_directory / "state.json"):
        assert "NaN" not in path.read_text(encoding="utf-8")
        assert "Infinity" not in path.read_text(encoding="utf-8")
    event = json.loads((run_directory / "events.jsonl").read_text(encoding="utf-8"))
    assert event["validation_loss"] is None
    assert event["parts"] == [None, 1.0]


def test_text_that_is_not_unicode_does_not_stop_a_run(run_directory):
    with RunStore(run_directory) as store:
        store.append_event("sample", 1, prompt="", text="half a \ud83d")
    assert RunReader(run_directory).read_new().events[0]["text"] == "half a ?"


def test_every_torn_tail_is_cut_off_and_the_next_step_follows_the_last_whole_one(
    run_directory, make_record, write_steps
):
    path = run_directory / "metrics.bin"
    write_steps(run_directory, (1, 2, 3))
    whole = path.read_bytes()
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        with RunStore(run_directory, attempt=2) as store:
            store.append_step(make_record(9))
        steps = RunReader(run_directory).read_new().records["step"].tolist()
        assert steps == [*[1, 2, 3][: max(0, length - 64) // 80], 9], length


def test_zeros_that_a_power_cut_left_are_cut_off(run_directory, make_record):
    with RunStore(run_directory) as store:
        store.append_step(make_record(1))
        store.append_event("eval", 1, validation_loss=1.0)
    for name in ("metrics.bin", "events.jsonl"):
        with (run_directory / name).open("ab") as file:
            file.write(bytes(4096))
    with RunStore(run_directory, attempt=2) as store:
        store.append_step(make_record(2))
        assert store.append_event("eval", 2, validation_loss=0.5) == 1
    increment = RunReader(run_directory).read_new()
    assert increment.records["step"].tolist() == [1, 2]
    assert [event["seq"] for event in increment.events] == [0, 1]
    assert increment.num_damaged == 0


def test_a_torn_event_is_cut_off_and_numbers_go_on(run_directory):
    with RunStore(run_directory) as store:
        store.append_event("eval", 1, validation_loss=1.0)
        store.append_event("eval", 2, validation_loss=2.0)
    path = run_directory / "events.jsonl"
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with RunStore(run_directory, attempt=2) as store:
            seq = store.append_event("ack", 3, command=1, op="pause")
        assert seq == (1 if length >= first else 0), length
        events = RunReader(run_directory).read_new().events
        assert [event["seq"] for event in events] == list(range(seq + 1)), length


def test_a_foreign_file_in_the_place_of_metrics_is_left_alone(run_directory):
    path = run_directory / "metrics.bin"
    path.write_bytes(b"holiday photograph " * 100)
    with pytest.raises(ValueError, match="is not a metrics file"):
        RunStore(run_directory)
    assert path.read_bytes() == b"holiday photograph " * 100


@pytest.mark.skipif(os.name == "nt", reason="needs resource limits")
def test_a_full_disk_is_a_sentence_and_leaves_no_part_of_a_record(run_directory, fresh_python):
    refused = fresh_python(FULL_DISK, run_directory).splitlines()
    assert [line.split()[0] for line in refused] == ["4", "5"]
    for line in refused:
        assert f"Cannot write {run_directory.name}/" in line, line
        assert "Free some space" in line, line
        assert "Errno" not in line, line
    increment = RunReader(run_directory).read_new()
    assert increment.records["step"].tolist() == [1, 2, 3, 6]
    assert increment.num_damaged == 0


def test_a_directory_that_cannot_be_written_is_a_sentence(tmp_path):
    with pytest.raises(RunStorageError, match=r"Cannot write .*gone.metrics\.bin \(No such file"):
        RunStore(tmp_path / "gone")


def test_a_state_that_does_not_fit_leaves_the_one_before(run_directory, fails):
    with RunStore(run_directory) as store:
        store.write_state("running", step=1)
        fails("os.fsync", OSError(errno.ENOSPC, "No space left on device"))
        with pytest.raises(RunStorageError, match=r"Cannot write .*state\.json \(No space left"):
            store.write_state("stopped", step=2)
        with pytest.raises(RunStorageError, match=r"Cannot write .*metrics\.bin"):
            store.sync()
    assert json.loads((run_directory / "state.json").read_text(encoding="utf-8"))["step"] == 1
    assert not list(run_directory.glob("*.tmp"))


def test_the_state_carries_who_wrote_it_and_when(run_directory):
    with RunStore(run_directory, attempt=3) as store:
        store.write_state("paused", step=7, max_steps_per_second=2.0, reason="asked")
    state = json.loads((run_directory / "state.json").read_text(encoding="utf-8"))
    assert state["pid"] == os.getpid()
    assert state["time"] > 1.7e9
    assert (state["state"], state["step"], state["attempt"]) == ("paused", 7, 3)
    assert (state["max_steps_per_second"], state["reason"]) == (2.0, "asked")


@pytest.fixture
def set_clocks(monkeypatch):
    """Return set(wall, monotonic)."""

    def to(wall, monotonic):
        monkeypatch.setattr(time, "time", lambda: wall)
        monkeypatch.setattr(time, "monotonic", lambda: monotonic)

    return to


@pytest.mark.parametrize(
    "looks",
    [
        [(1000.0, 5.0, 1000.0), (1002.5, 7.5, 1002.5), (4600.0, 8.0, 4600.0)],  # it slept an hour
        [(10_000.0, 0.0, 10_000.0), (6_401.0, 1.0, 10_001.0), (6_403.5, 3.5, 10_003.5)],
    ],
    ids=["the wall clock while that goes forwards", "a clock set back by an hour costs no second"],
)
def test_time_is_that_of_the_wall_clock_but_never_goes_backwards(set_clocks, looks):
    set_clocks(*looks[0][:2])
    clock = RunClock()
    for wall, monotonic, told in looks:
        set_clocks(wall, monotonic)
        assert clock.now() == told


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
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert statistics.median(gaps) == pytest.approx(0.1, abs=0.02)
