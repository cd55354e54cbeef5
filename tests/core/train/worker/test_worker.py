"""The training process from outside: real processes, real signals."""

import json
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from core.train.control.commands import StopSignal, send
from core.train.control.device import hold_device
from core.train.run.directory import read_info
from core.train.run.disk import RunStorageError
from core.train.run.reader import RunReader
from core.train.run.state import read_state, state_sentence
from core.train.run.store import RunStore
from core.train.start.launch import create_run
from core.train.start.timing import child_environment
from core.train.worker.__main__ import EXIT_BUSY, EXIT_FAILED, last_attempt, main, work
from core.train.worker.turn import QueueLeftError

pytestmark = pytest.mark.slow


@pytest.fixture
def start_worker(root):
    """Return start(directory): a worker process that is killed at the end if it still lives."""
    started = []

    def start(directory, *options):
        command = [sys.executable, "-m", "core.train.worker", str(directory), *options]
        started.append(
            subprocess.Popen(command, cwd=root, env=child_environment(), stderr=subprocess.PIPE)
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_sigterm_stops_with_a_checkpoint_and_a_resume_finishes(
    prepared_run, start_worker, wait_until
):
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


def test_a_killed_worker_is_seen_as_crashed_and_loses_no_committed_step(
    prepared_run, start_worker, wait_until
):
    directory = prepared_run(num_steps=500, max_steps_per_second=200.0)
    process = start_worker(directory)
    wait_until(lambda: read_state(directory).step >= 10)
    process.kill()
    process.wait(10)
    assert read_state(directory).state == "crashed"
    steps = RunReader(directory).read_new().records["step"].tolist()
    assert steps == list(range(1, len(steps) + 1))
    assert len(steps) >= 10


def test_of_two_starts_at_the_same_moment_exactly_one_runs(prepared_run, start_worker, wait_until):
    runs = [prepared_run(num_steps=100_000) for _run in range(2)]
    both = [start_worker(directory) for directory in runs]
    wait_until(lambda: any(process.poll() is not None for process in both))
    loser = next(place for place, process in enumerate(both) if process.poll() is not None)
    assert both[loser].returncode == EXIT_BUSY
    assert read_state(runs[loser]).reason == "device_busy"
    wait_until(lambda: read_state(runs[1 - loser]).state == "running")
    send(runs[1 - loser], "stop")
    assert both[1 - loser].wait(60) == 0
    assert read_state(runs[1 - loser]).state == "stopped"


@pytest.fixture
def no_signals(monkeypatch):
    """A worker inside this process leaves its signals alone."""
    monkeypatch.setattr(StopSignal, "listen", lambda signal: signal)


def test_of_two_runs_on_one_device_one_trains(prepared_run, no_signals):
    directory = prepared_run()
    with hold_device("cpu", "20260102t030405z-another-00ff"):
        assert main([str(directory)]) == EXIT_BUSY
    state = read_state(directory)
    assert (state.state, state.reason) == ("failed", "device_busy")
    assert "20260102t030405z-another-00ff is training on this CPU" in state.message


@pytest.mark.parametrize(
    ("error", "reason"),
    [(MemoryError(), "out_of_memory"), (RunStorageError(28, "No space left"), "disk")],
)
def test_what_ends_a_worker_is_written_down(prepared_run, fails, no_signals, error, reason):
    directory = prepared_run()
    fails("core.train.worker.session.Session.run", error)
    assert main([str(directory)]) == 1
    state = read_state(directory)
    assert (state.state, state.reason) == ("failed", reason)
    assert state.message


def test_an_unexpected_error_reaches_the_log_and_the_state(prepared_run, fails, no_signals):
    directory = prepared_run()
    fails("core.train.worker.session.Session.run", ZeroDivisionError("a mistake of ours"))
    with pytest.raises(ZeroDivisionError, match="a mistake of ours"):
        main([str(directory)])
    assert read_state(directory).reason == "error"


def test_a_run_that_waits_is_starting_and_trains_when_its_turn_comes(
    prepared_run, start_worker, wait_until
):
    first, second = prepared_run(num_steps=100_000), prepared_run()
    holder = start_worker(first)
    wait_until(lambda: read_state(first).state == "running")
    waiting = start_worker(second, "--asked-at", "2.0")
    wait_until(lambda: read_state(second).reason == "queued")
    assert read_state(second).state == "starting"
    assert "Its turn comes by itself" in state_sentence(read_state(second))
    assert not read_state(second).is_final
    send(first, "stop")
    assert (holder.wait(60), waiting.wait(60)) == (0, 0)
    assert read_state(second).state == "finished"


def test_a_directory_that_vanishes_ends_its_worker_and_no_other(
    prepared_run, start_worker, wait_until
):
    directory, other = prepared_run(num_steps=100_000), prepared_run()
    process = start_worker(directory)
    wait_until(lambda: read_state(directory).state == "running")
    directory.rename(directory.with_name("gone"))  # at once: the worker writes meanwhile
    assert process.wait(60) == EXIT_FAILED
    assert b"Cannot write" in process.stderr.read()
    assert not directory.exists()
    assert start_worker(other).wait(60) == 0
    assert read_state(other).state == "finished"


def run_program(code, *arguments):
    """Run a program that makes a worker of itself."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    environment = child_environment()
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


LIMITED = """
import resource, sys
from core.train.worker.__main__ import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
sys.exit(main([sys.argv[1]]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows limits no file sizes")
@pytest.mark.parametrize(
    ("num_bytes", "num_steps", "end"),
    [(20_000, 12, ("finished", "disk")), (16_000, 400, ("failed", "disk"))],
)
def test_a_full_disk_costs_checkpoints_first_and_ends_the_run_when_no_step_fits(
    prepared_run, num_bytes, num_steps, end
):
    directory = prepared_run(num_steps=num_steps, eval_interval=400, sample_interval=400)
    done = run_program(LIMITED, directory, num_bytes)
    state = read_state(directory)
    assert (state.state, state.reason) == end, done.stderr
    records = RunReader(directory).read_new().records
    assert records["step"].tolist() == list(range(1, len(records) + 1))
    assert len(records) >= 12
    assert not list((directory / "ckpt").glob("*"))
    assert main([str(directory)]) == 0  # there is space again
    assert read_state(directory).state == "finished"


FORKLESS = """
import sys
seen = []
sys.addaudithook(lambda event, _arguments: seen.append(event) if "fork" in event else None)
from core.train.worker.__main__ import main
main([sys.argv[1]])
print(seen, {"streamlit", "plotly", "pandas", "torch"} & set(sys.modules))
"""


def test_a_worker_forks_nothing_that_could_keep_its_lock_and_holds_no_page(prepared_run):
    directory = prepared_run()
    done = run_program(FORKLESS, directory)
    assert read_state(directory).state == "finished"
    assert done.stdout == "[] {'torch'}\n"


PINNED = """
import os, sys
from pathlib import Path
from core.machine.nvml import Gpu
from core.train.control import device
from core.train.control.device import hold_device
from core.train.worker.__main__ import main

def gpu(uuid, free):
    sizes = {"total_bytes": 80, "used_bytes": 80 - free, "utilization": None, "processes": ()}
    return Gpu(uuid=uuid, name="NVIDIA H100", is_slice=False, **sizes)

class WhenTorchIsLookedFor:
    def find_spec(self, name, *_):
        if name == "torch":
            print(os.environ.get("CUDA_VISIBLE_DEVICES"))

sys.meta_path.insert(0, WhenTorchIsLookedFor())
device.visible_gpus = lambda: (gpu("GPU-a", 20), gpu("GPU-b", 60))
with hold_device("cuda", "another"):
    main([sys.argv[1]])
"""


def test_a_worker_is_pinned_to_the_gpu_that_it_holds_before_torch_is_there(
    made_timing, prepare_small, tmp_path
):
    on_cuda = replace(made_timing, device="cuda")
    directory = create_run(prepare_small(device="cuda"), on_cuda, tmp_path / "runs")
    assert run_program(PINNED, directory).stdout == "GPU-a\n"
    state = read_state(directory)
    assert (state.gpu_name, state.gpu_uuid) == ("NVIDIA H100", "GPU-a")
    assert state.reason == "device_gone"  # torch finds no such GPU here


def test_what_is_no_run_of_ours_is_left_as_it_was(tmp_path, prepared_run, capsys):
    foreign = tmp_path / "holiday"
    foreign.mkdir()
    (foreign / "photo.txt").write_text("sea", encoding="utf-8")
    assert main([str(foreign)]) == EXIT_FAILED
    assert "is not a run or is damaged" in capsys.readouterr().err
    newer = prepared_run()
    (newer / "metrics.bin").write_bytes(b"B2GMETR\0\x02\0" + bytes(54))
    before = (newer / "state.json").read_bytes()
    assert main([str(newer)]) == EXIT_FAILED
    assert "Update the app" in capsys.readouterr().err
    assert (newer / "state.json").read_bytes() == before
    assert main([str(tmp_path / "gone")]) == EXIT_FAILED
    assert "Cannot write" in capsys.readouterr().err
    assert not (tmp_path / "gone").exists()


def test_a_folder_that_may_only_be_read_is_a_sentence(prepared_run, fails, capsys):
    fails("filelock.FileLock.acquire", PermissionError(13, "Permission denied"))
    assert main([str(prepared_run())]) == EXIT_FAILED
    assert "worker.lock (Permission denied)" in capsys.readouterr().err


def test_the_number_of_attempts_survives_the_loss_of_the_state(run_directory, make_record):
    assert last_attempt(run_directory) == 0
    with RunStore(run_directory, attempt=2) as store:
        store.append_step(make_record(1))
    with RunStore(run_directory, attempt=3) as store:
        store.append_event("eval", 1, validation_loss=2.0)
    assert last_attempt(run_directory) == 3
    (run_directory / "events.jsonl").write_text(json.dumps({"seq": 0, "kind": "eval"}) + "\n")
    assert last_attempt(run_directory) == 2


def test_a_malicious_checkpoint_runs_nothing_and_the_run_begins_anew(
    prepared_run, no_signals, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    directory = prepared_run()
    (directory / "ckpt").mkdir()
    (directory / "ckpt" / "step-00000008.pt").write_bytes(b"cos\nsystem\n(S'mkdir it-ran'\ntR.")
    assert main([str(directory)]) == 0
    assert not (tmp_path / "it-ran").exists()
    increment = RunReader(directory).read_new()
    assert increment.records["step"].tolist() == list(range(1, 13))
    assert increment.events[0]["finding"] == "damaged_checkpoint"


@pytest.mark.parametrize("asked_at", [None, 1.0])
def test_a_resumed_run_shows_its_dials_from_the_first_word(prepared_run, monkeypatch, asked_at):
    directory = prepared_run()
    seen = []

    def leave(*_arguments):
        seen.append(json.loads((directory / "state.json").read_text(encoding="utf-8")))
        raise QueueLeftError

    monkeypatch.setattr("core.train.worker.__main__.hold_device", leave)
    monkeypatch.setattr("core.train.worker.__main__.device_in_turn", leave)
    with RunStore(directory) as store:
        store.write_state("stopped", step=4, learning_rate_multiplier=2.0, max_steps_per_second=5.0)
        work(store, read_info(directory), asked_at)
    seen.append(json.loads((directory / "state.json").read_text(encoding="utf-8")))
    assert [each["state"] for each in seen] == ["starting", "stopped"]
    for each in seen:
        assert (each["learning_rate_multiplier"], each["max_steps_per_second"]) == (2.0, 5.0)
