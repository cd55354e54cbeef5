"""Kill real workers for minutes, resume them, and compare every loss with a run never killed."""

import argparse
import os
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil

from core.train.config import TrainConfig
from core.train.run.directory import METRICS_FILE
from core.train.run.reader import RunReader
from core.train.run.records import HEADER, RECORD, newest, parse_records
from core.train.run.state import read_state
from core.train.start.launch import create_run, spawn_worker
from core.train.start.plan import predict_run
from core.train.start.timing import Timing
from core.train.text.dataset import dataset_of
from core.train.worker.faults import POINTS, VARIABLE

TEXT = ("the quick brown fox jumps over the lazy dog. " * 60).encode()
NUM_STEPS = 2000
LONGEST_LIFE = 6.0  # seconds; about three go by before torch is imported
SETTINGS = {
    "corpus": "upload",
    "device": "cpu",
    "precision": "fp32",
    "num_layers": 1,
    "hidden_dim": 16,
    "num_heads": 2,
    "seq_len": 16,
    "batch_size": 4,
    "num_steps": NUM_STEPS,
    "checkpoint_interval": 50,
    "eval_interval": 500,
    "sample_interval": 1000,
    "max_steps_per_second": 60.0,
}
TIMING = Timing(
    seconds_per_step=0.002,
    fastest_seconds=0.001,
    slowest_seconds=0.003,
    num_steps_timed=20,
    precision="fp32",
    device="cpu",
    device_name="CPU",
    device_bytes=None,
    threads=1,
    flops=1e6,
    measured_at=0.0,
    tried={},
)


def make_run(runs: Path, **changes: object) -> Path:
    """Make a run that waits for its worker."""
    config = TrainConfig.from_json({**SETTINGS, **changes})
    prepared = predict_run(config, dataset_of(config, TEXT, "fox.txt"))
    return create_run(prepared, TIMING, runs)


def live_and_die(directory: Path, chance: random.Random) -> str:
    """Give the run one life; return how it ended."""
    fault = chance.choice(POINTS) if chance.random() < 0.25 else ""
    times = chance.randint(1, 3) * (30 if fault == "step_recorded" else 1)
    os.environ[VARIABLE] = f"{fault}:{times}" if fault else ""
    worker = spawn_worker(directory)
    os.environ[VARIABLE] = ""
    deadline = time.monotonic() + (30.0 if fault else chance.uniform(0.0, LONGEST_LIFE))
    while worker.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    if worker.poll() is None:
        psutil.Process(worker.pid).kill()
    while worker.poll() is None:
        time.sleep(0.005)
    return "ended" if worker.returncode == 0 else fault or "random"


def seconds_until_crashed(directory: Path) -> float:
    """Wait until a reader calls the run crashed."""
    began = time.monotonic()
    while read_state(directory).state != "crashed":
        if time.monotonic() - began > 70:
            raise SystemExit(f"no crash was seen: {read_state(directory)}")
        time.sleep(0.005)
    return time.monotonic() - began


def check_files(directory: Path, before: bytes) -> bytes:
    """Return metrics.bin; end the program if anything in it is torn or gone."""
    path = directory / METRICS_FILE
    data = path.read_bytes() if path.exists() else b""
    whole = not data or (len(data) - HEADER.size) % RECORD.size == 0
    sound = whole and (not data or bool(parse_records(data[HEADER.size :])[1].all()))
    if not (data.startswith(before) and sound):
        raise SystemExit(f"{path} lost or tore a record")
    return data


def soak(minutes: float, seed: int, runs: Path) -> None:
    """Kill and resume for some minutes, then finish the run and compare."""
    chance, died, slowest, data = random.Random(seed), Counter[str](), 0.0, b""  # noqa: S311
    directory = make_run(runs)
    deadline = time.monotonic() + 60 * minutes
    while time.monotonic() < deadline:
        how = live_and_die(directory, chance)
        if how == "ended":
            break
        died[how] += 1
        data = check_files(directory, data)
        if read_state(directory).state == "finished":
            break  # the kill hit a process that had nothing left to do
        if data:  # before its first write, a worker has a minute to start
            slowest = max(slowest, seconds_until_crashed(directory))
    straight = make_run(runs, max_steps_per_second=None)
    losses = []
    for run in (directory, straight):
        while (code := spawn_worker(run).wait()) != 0:
            print(f"worker ended with {code}")
        losses.append(newest(RunReader(run).read_new().records)["loss"].tolist())
    print(f"{died.total()} kills: {dict(died)}; crash seen after at most {slowest:.3f} s")
    equal = losses[0] == losses[1] and len(losses[0]) == NUM_STEPS
    print("every loss equal bit for bit" if equal else "LOSSES DIFFER")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        os.environ["B2G_STATE_DIR"] = place
        soak(chosen.minutes, chosen.seed, Path(place) / "runs")


if __name__ == "__main__":
    main()
