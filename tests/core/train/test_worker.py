"""The training process from outside: real processes, real signals."""

import signal
import subprocess
import sys
import time

import pytest

from core.train.control import send
from core.train.device_lock import hold_device
from core.train.reader import RunReader
from core.train.state import read_state
from core.train.timing import child_environment
from core.train.worker import EXIT_BUSY, main


@pytest.fixture
def start_worker(root):
    """Return start(directory): a worker process that is killed at the end if it still lives."""
    started = []

    def start(directory):
        command = [sys.executable, "-m", "core.train.worker", str(directory)]
        process = subprocess.Popen(
            command, cwd=root, env=child_environment(), stderr=subprocess.PIPE
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def test_a_worker_trains_to_the_end_and_leaves_neither_streamlit_nor_plotly(
    prepared_run, start_worker
):
    directory = prepared_run()
    process = start_worker(directory)
    assert process.wait(60) == 0, process.stderr.read()
    assert read_state(directory).state == "finished"
    assert len(RunReader(directory).read_new().records) == 12


def test_the_worker_process_holds_neither_streamlit_nor_plotly(root):
    code = "import sys, core.train.worker; print(sorted({'streamlit','plotly'} & set(sys.modules)))"
    printed = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == "[]"


def test_sigterm_stops_with_a_checkpoint_and_a_resume_finishes(prepared_run, start_worker):
    directory = prepared_run(num_steps=400, max_steps_per_second=100.0)
    process = start_worker(directory)
    wait_until(lambda: read_state(directory).step >= 5)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    state = read_state(directory)
    assert state.state == "stopped"
    assert (directory / "ckpt" / f"step-{state.step:08d}.pt").exists()
    send(directory, "set_max_steps_per_second", None)
    assert start_worker(directory).wait(60) == 0
    records = RunReader(directory).read_new().records
    assert records["step"].tolist() == list(range(1, 401))
    assert set(records["attempt"].tolist()) == {1, 2}


def test_a_killed_worker_is_seen_as_crashed_and_loses_no_committed_step(prepared_run, start_worker):
    directory = prepared_run(num_steps=500, max_steps_per_second=200.0)
    process = start_worker(directory)
    wait_until(lambda: read_state(directory).step >= 10)
    process.kill()
    process.wait(10)
    assert read_state(directory).state == "crashed"
    steps = RunReader(directory).read_new().records["step"].tolist()
    assert steps == list(range(1, len(steps) + 1))
    assert len(steps) >= 10


def test_of_two_workers_of_one_run_one_trains(prepared_run, start_worker):
    directory = prepared_run(num_steps=5000)
    first = start_worker(directory)
    wait_until(lambda: read_state(directory).state == "running")
    second = start_worker(directory)
    assert second.wait(60) == EXIT_BUSY
    assert b"already being trained by another process" in second.stderr.read()
    send(directory, "stop")
    assert first.wait(30) == 0


def test_of_two_runs_on_one_device_one_trains(prepared_run):
    directory = prepared_run()
    with hold_device("cpu", "20260102t030405z-another-00ff"):
        assert main([str(directory)]) == EXIT_BUSY
    state = read_state(directory)
    assert (state.state, state.reason) == ("failed", "device_busy")
    assert "20260102t030405z-another-00ff is training on this CPU" in state.message


@pytest.mark.parametrize(
    ("error", "reason"),
    [(MemoryError(), "out_of_memory"), (OSError(28, "No space left"), "disk")],
)
def test_what_ends_a_worker_is_written_down(prepared_run, monkeypatch, error, reason):
    from core.train.disk import RunStorageError

    raised = RunStorageError(*error.args) if isinstance(error, OSError) else error

    def fail(_session):
        raise raised

    directory = prepared_run()
    monkeypatch.setattr("core.train.session.Session.run", fail)
    monkeypatch.setattr("core.train.stop_signal.StopSignal.listen", lambda signal: signal)
    assert main([str(directory)]) == 1
    state = read_state(directory)
    assert (state.state, state.reason) == ("failed", reason)
    assert state.message


def test_an_unexpected_error_reaches_the_log_and_the_state(prepared_run, monkeypatch):
    def fail(_session):
        raise ZeroDivisionError("a mistake of ours")

    directory = prepared_run()
    monkeypatch.setattr("core.train.session.Session.run", fail)
    monkeypatch.setattr("core.train.stop_signal.StopSignal.listen", lambda signal: signal)
    with pytest.raises(ZeroDivisionError, match="a mistake of ours"):
        main([str(directory)])
    assert read_state(directory).reason == "error"
