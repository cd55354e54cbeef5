"""A run of two processes: it trains, is stopped, loses a rank, and goes on with another number."""

import signal
import threading
import time

import psutil
import pytest

from core.train.control.commands import StopSignal, send
from core.train.control.device import hold_device
from core.train.control.ranks import Processes, Rank, RanksError
from core.train.run.ranks import newest_rows
from core.train.run.reader import RunReader
from core.train.run.records import newest
from core.train.run.state import read_state, state_sentence
from core.train.start.launch import spawn_worker
from core.train.worker import company
from core.train.worker.__main__ import main

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="ranks are killed"),
]

SECONDS = 120.0  # a busy machine takes its time to import torch three times


@pytest.fixture
def begin(wait_until):
    """Return begin(directory, count, sharding): torchrun, whose end is waited for by the test."""
    begun = []

    def start(directory, count=2, sharding="ddp", **more):
        begun.append(
            spawn_worker(directory, processes=Processes(count=count, sharding=sharding), **more)
        )
        return begun[-1]

    yield start
    for each in begun:
        if each.poll() is None:
            each.terminate()
            each.wait(SECONDS)


def rank_process(torchrun, rank):
    """Return the process of a rank, once it runs."""
    for child in psutil.Process(torchrun.pid).children():
        if child.environ().get("RANK") == str(rank):
            return child
    return None


def steps(directory):
    return newest(RunReader(directory).read_new().records)


def test_a_run_of_two_processes_loses_one_and_goes_on_with_one(prepared_run, begin, wait_until):
    settings = {"num_steps": 60, "memory_interval": 10, "max_steps_per_second": 30.0}
    directory, alone = prepared_run(**settings), prepared_run(**{**settings, "num_steps": 60})
    torchrun = begin(directory, 2, "fsdp2")
    wait_until(lambda: read_state(directory).step >= 14, seconds=SECONDS)
    assert [row.rank for row in newest_rows(RunReader(directory).read_new().events)] == [0, 1]
    rank_process(torchrun, 1).kill()
    assert torchrun.wait(SECONDS) != 0
    state = read_state(directory)
    assert (state.state, state.reason) == ("failed", "rank_lost")
    assert "One of 2 ranks was lost after step" in state_sentence(state)
    before = steps(directory)["step"].tolist()
    assert begin(directory, 1).wait(SECONDS) == 0
    assert read_state(directory).state == "finished"
    assert begin(alone, 1).wait(SECONDS) == 0
    records = steps(directory)
    assert records["step"].tolist() == list(range(1, 61))
    assert set(before) <= set(records["step"].tolist())
    assert records["loss"] == pytest.approx(steps(alone)["loss"], rel=1e-4)


def test_a_stop_while_it_waits_for_the_device_ends_all_of_them(prepared_run, begin, wait_until):
    directory = prepared_run()
    with hold_device("cpu", "20260101t000000z-another-0000"):
        torchrun = begin(directory, 2, wait=True)
        wait_until(lambda: read_state(directory).reason == "queued", seconds=SECONDS)
        send(directory, "stop")
        assert torchrun.wait(SECONDS) == 0
    assert read_state(directory).state == "stopped"


def test_ranks_that_do_not_meet_are_told_as_that(monkeypatch):
    """Torchrun ends a run whose rank was lost by a signal, or else nobody comes in time."""
    stop, rank = StopSignal(), Rank(count=2, local_count=2)
    monkeypatch.setattr(company, "meet", lambda _seconds: time.sleep(60))
    threading.Timer(0.2, setattr, (stop, "requested", True)).start()
    with pytest.raises(RanksError, match="did not all meet") as signalled:
        company._meet(rank, stop)
    assert (signalled.value.reason, signalled.value.values) == ("rank_lost", {"count": 2})

    def nobody(_seconds):
        raise RuntimeError("gloo: timed out")

    monkeypatch.setattr(company, "meet", nobody)
    with pytest.raises(RanksError, match="did not all meet"):
        company._meet(rank, StopSignal())


def test_more_ranks_than_sequences_are_refused_in_words(prepared_run, monkeypatch):
    monkeypatch.setattr(StopSignal, "listen", lambda signal: signal)
    for name, value in {"RANK": "0", "WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    directory = prepared_run(batch_size=1)
    assert main([str(directory)]) == 1
    state = read_state(directory)
    assert (state.state, state.reason) == ("failed", "processes")
    assert "A batch of 1 sequences cannot be split over 2" in state_sentence(state)
