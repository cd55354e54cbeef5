"""A run directory made by hand, and a worker that does nothing but live."""

import contextlib
import subprocess
import sys
import threading
import time
from unittest.mock import Mock

import pytest

from core.machine.nvml import Gpu, GpuProcess
from core.train.run.directory import write_info
from core.train.run.records import StepRecord
from core.train.run.store import RunStore
from core.units import GIB

NAME = "20260102t030405z-one-minute-00ff"
INFO = {
    "name": NAME,
    "created": 1_767_323_045.0,
    "config": {"name": "One minute", "num_steps": 100},
}
HOLDER = """
import sys
from pathlib import Path
from core.train.run.state import hold_worker_lock
with hold_worker_lock(Path(sys.argv[1])):
    print("holding", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def make_run(tmp_path):
    """Return make_run(name, **info): a run directory with its run.json and nothing else."""

    def make(name=NAME, **info):
        directory = tmp_path / "runs" / name
        directory.mkdir(parents=True)
        write_info(directory, {**INFO, "name": name, **info})
        return directory

    return make


@pytest.fixture
def run_directory(make_run):
    """One fresh run directory."""
    return make_run()


@pytest.fixture
def make_record():
    """Return make_record(step, **fields): a step with plausible numbers."""

    usual = {"seconds": 0.5, "learning_rate": 1e-3, "grad_norm": 1.5}
    usual |= {"tokens_per_second": 20_000.0, "resident_bytes": 300 << 20}

    def make(step, **fields):
        of_step = {"step": step, "time": 1e9 + step, "loss": 4.0 / step}
        return StepRecord(**{**usual, **of_step, **fields})

    return make


@pytest.fixture
def write_steps(make_record):
    """Return write_steps(directory, steps, attempt=1, **fields): these steps are committed."""

    def write(directory, steps, attempt=1, **fields):
        with RunStore(directory, attempt) as store:
            for step in steps:
                store.append_step(make_record(step, **fields))

    return write


@pytest.fixture
def fails(monkeypatch):
    """Return fails("dotted.name", error): from now on whoever calls it gets the error."""
    return lambda name, error: monkeypatch.setattr(name, Mock(side_effect=error))


@pytest.fixture
def wait_until():
    """Return wait_until(condition, seconds=60): fails when it does not come true in time."""

    def wait(condition, seconds=60):
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "it did not happen in time"
            time.sleep(0.01)

    return wait


@pytest.fixture
def living_worker(root):
    """Return living_worker(directory): a context with a process that holds the run's lock."""

    @contextlib.contextmanager
    def start(directory):
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(directory)],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        try:
            assert process.stdout.readline() == b"holding\n"
            yield process
        finally:
            process.kill()
            process.communicate()

    return start


@pytest.fixture
def gpus(monkeypatch):
    """Return gpus(GPU_a=20, ...): these are visible, each of 80 GiB with so many free.

    `processes` of a call are pairs of a number and bytes, on every one.
    """

    def see(processes=(), **free):
        seen = tuple(
            Gpu(
                uuid=name.replace("_", "-"),
                name="NVIDIA H100",
                is_slice=False,
                total_bytes=80 * GIB,
                used_bytes=(80 - gib) * GIB,
                utilization=0.0,
                processes=tuple(GpuProcess(pid=pid, num_bytes=held) for pid, held in processes),
            )
            for name, gib in free.items()
        )
        for room in ("control.device", "worker.failures"):
            monkeypatch.setattr(f"core.train.{room}.visible_gpus", lambda: seen)

    return see


TEXT = b"the quick brown fox jumps over the lazy dog. " * 60


SMALL = (
    {"corpus": "upload", "device": "cpu", "precision": "fp32", "num_steps": 12, "warmup_steps": 2}
    | {"num_layers": 1, "hidden_dim": 16, "num_heads": 2, "seq_len": 16, "batch_size": 4}
    | {"eval_interval": 5, "eval_batches": 2, "sample_interval": 6, "sample_length": 20}
    | {"checkpoint_interval": 4, "memory_interval": 5}
)


@pytest.fixture
def small_config():
    """Return small_config(**changes): a config whose steps take a millisecond."""
    from core.train.config import TrainConfig

    return lambda **changes: TrainConfig.from_json({**SMALL, **changes})


@pytest.fixture
def make_trainer(small_config):
    """Return make_trainer(on="cpu", in_bursts=None, **changes): of the small config and text."""
    import torch

    from core.train.learning.trainer import Trainer
    from core.train.text.dataset import build_dataset

    def make(on="cpu", in_bursts=None, **changes):
        config = small_config(**changes)
        dataset = build_dataset(config, TEXT, "fox.txt")
        return Trainer.of(config, dataset, torch.device(on), in_bursts=in_bursts)

    return make


@pytest.fixture
def prepare_small(small_config):
    """Return prepare_small(text=..., file="fox.txt", **changes): the small config, prepared."""
    from core.train.start.plan import predict_run
    from core.train.text.dataset import dataset_of

    def make(text=TEXT, file="fox.txt", **changes):
        config = small_config(**changes)
        return predict_run(config, dataset_of(config, text, file))

    return make


@pytest.fixture
def prepared_run(prepare_small, made_timing, tmp_path):
    """Return prepared_run(**changes): a run directory that waits for its worker."""
    from core.train.start.launch import create_run

    def make(**changes):
        return create_run(prepare_small(**changes), made_timing, tmp_path / "runs")

    return make


@pytest.fixture
def sleep_instead(monkeypatch):
    """Return sleep_instead(call): what this thread does instead of time.sleep from now on.

    A thread that another test has left behind sleeps as before.
    """

    def take_its_place(call):
        own, sleep = threading.current_thread(), time.sleep

        def in_own_thread(seconds):
            if threading.current_thread() is own:
                call(seconds)
            else:
                sleep(seconds)

        monkeypatch.setattr(time, "sleep", in_own_thread)

    return take_its_place
