"""A run directory made by hand, and a worker that does nothing but live."""

import contextlib
import subprocess
import sys

import pytest

from core.train.info import write_info
from core.train.records import StepRecord

NAME = "20260102t030405z-one-minute-00ff"
INFO = {
    "name": NAME,
    "created": 1_767_323_045.0,
    "config": {"name": "One minute", "num_steps": 100},
}
HOLDER = """
import sys
from pathlib import Path
from core.train.lock import hold_worker_lock
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

    def make(step, **fields):
        usual = {
            "time": 1e9 + step,
            "seconds": 0.5,
            "loss": 4.0 / step,
            "learning_rate": 1e-3,
            "grad_norm": 1.5,
            "tokens_per_second": 20_000.0,
            "resident_bytes": 300 << 20,
        }
        return StepRecord(step=step, **{**usual, **fields})

    return make


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


TEXT = "the quick brown fox jumps over the lazy dog. " * 60


@pytest.fixture
def small_config():
    """Return small_config(**changes): a config whose steps take a millisecond."""
    from core.train.config import TrainConfig

    usual = {
        "corpus": "upload",
        "device": "cpu",
        "precision": "fp32",
        "num_layers": 1,
        "hidden_dim": 16,
        "num_heads": 2,
        "seq_len": 16,
        "batch_size": 4,
        "num_steps": 12,
        "warmup_steps": 2,
        "eval_interval": 5,
        "eval_batches": 2,
        "sample_interval": 6,
        "sample_length": 20,
        "checkpoint_interval": 4,
        "memory_interval": 5,
    }
    return lambda **changes: TrainConfig.from_json({**usual, **changes})


@pytest.fixture
def make_trainer(small_config):
    """Return make_trainer(**changes): a trainer of the small config on a small text."""
    import torch

    from core.train.dataset import build_dataset
    from core.train.trainer import Trainer

    def make(**changes):
        config = small_config(**changes)
        dataset = build_dataset(config, TEXT.encode(), "fox.txt")
        return Trainer(
            config,
            dataset.training_tokens,
            dataset.validation_tokens,
            dataset.tokenizer.vocab_size,
            torch.device("cpu"),
        )

    return make


@pytest.fixture
def prepared_run(small_config, made_timing, tmp_path):
    """Return prepared_run(**changes): a run directory that waits for its worker."""
    from core.train.launch import create_run
    from core.train.prepare import prepare

    def make(**changes):
        prepared = prepare(small_config(**changes), TEXT.encode(), "fox.txt")
        return create_run(prepared, made_timing, tmp_path / "runs")

    return make
