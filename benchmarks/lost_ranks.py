"""Kill either rank of a run again and again, resume it with one, two and three, compare the losses.

The oracle is the same run, in one process, that nobody disturbs. Killed are rank 0 and the others
in turns, by SIGKILL, some steps after the run goes on; a life has two ranks, then three, then one.
"""

import argparse
import os
import random
import tempfile
import time
from itertools import cycle
from pathlib import Path

import numpy as np
import psutil

from core.train.config import TrainConfig
from core.train.control.ranks import SHARDINGS, Processes
from core.train.run.directory import METRICS_FILE
from core.train.run.reader import RunReader
from core.train.run.records import HEADER, RECORD, Records, newest, parse_records
from core.train.run.state import read_state
from core.train.start.launch import create_run, spawn_worker
from core.train.start.plan import predict_run
from core.train.start.timing import measure_timing
from core.train.text.dataset import dataset_of

TEXT = ("the quick brown fox jumps over the lazy dog. " * 60).encode()
SETTINGS = {
    "corpus": "upload",
    "device": "cpu",
    "precision": "fp32",
    "num_layers": 1,
    "hidden_dim": 16,
    "num_heads": 2,
    "seq_len": 16,
    "batch_size": 6,
    "checkpoint_interval": 20,
    "eval_interval": 200,
    "memory_interval": 25,
    "sample_interval": 1000,
    "max_steps_per_second": 40.0,
}
STEPS_PER_LIFE = 40  # at most, before the kill
PATIENCE = 300.0


def make_run(runs: Path, num_steps: int) -> Path:
    """Make a run that waits for its worker."""
    config = TrainConfig.from_json({**SETTINGS, "num_steps": num_steps})
    prepared = predict_run(config, dataset_of(config, TEXT, "fox.txt"))
    timing = measure_timing(config, prepared.dataset.tokenizer.vocab_size)
    return create_run(prepared, timing, runs)


def check_files(directory: Path, before: bytes) -> bytes:
    """Return metrics.bin; end the program if anything in it is torn or gone."""
    path = directory / METRICS_FILE
    data = path.read_bytes() if path.exists() else b""
    whole = not data or (len(data) - HEADER.size) % RECORD.size == 0
    sound = whole and (not data or bool(parse_records(data[HEADER.size :])[1].all()))
    if not (data.startswith(before) and sound):
        raise SystemExit(f"{path} lost or tore a record")
    return data


def steps(directory: Path) -> Records:
    """Return the run's steps, those that were done again once."""
    return newest(RunReader(directory).read_new().records)


def wait_for_step(directory: Path, worker: psutil.Process, step: int) -> None:
    """Wait until this life has reached a step."""
    until = time.monotonic() + PATIENCE
    while (state := read_state(directory)).step < step or state.state != "running":
        if time.monotonic() > until or not worker.is_running():
            raise SystemExit(f"step {step} was not reached: {state}")
        time.sleep(0.01)


def lose(directory: Path, processes: Processes, rank: int, at_step: int) -> str:
    """Give the run a life that ends with the loss of a rank; return how the run tells of it."""
    torchrun = spawn_worker(directory, processes=processes)
    wait_for_step(directory, psutil.Process(torchrun.pid), at_step)
    own = psutil.Process(torchrun.pid)  # torchrun, or the worker itself where it is alone
    ranks = {int(it.environ()["RANK"]): it for it in own.children()} or {0: own}
    ranks[rank].kill()
    torchrun.wait(PATIENCE)
    left = [it for it in ranks.values() if it.is_running() and it.status() != "zombie"]
    if left:
        raise SystemExit(f"{len(left)} ranks live on after torchrun has ended")
    state = read_state(directory)
    return state.reason if state.state == "failed" else state.state


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--sharding", choices=SHARDINGS, default=SHARDINGS[0])
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    chance, data = random.Random(chosen.seed), b""  # noqa: S311
    num_steps = (chosen.kills + 1) * STEPS_PER_LIFE
    with tempfile.TemporaryDirectory() as place:
        os.environ["B2G_STATE_DIR"] = place
        disturbed, straight = (make_run(Path(place) / "runs", num_steps) for _two in "ab")
        for kill, count in zip(range(chosen.kills), cycle((2, 3, 1)), strict=False):
            at_step = read_state(disturbed).step + chance.randint(5, STEPS_PER_LIFE - 5)
            rank = kill % 2 * chance.randint(0, count - 1)
            processes = Processes(count=count, sharding=chosen.sharding)
            told = lose(disturbed, processes, rank, at_step)
            data = check_files(disturbed, data)
            print(f"kill {kill + 1}: rank {rank} of {count} at step {at_step}: {told}", flush=True)
        for run in (disturbed, straight):
            if (code := spawn_worker(run).wait()) != 0:
                raise SystemExit(f"{run} ended with {code}: {read_state(run)}")
        found, expected = steps(disturbed), steps(straight)
    missing = num_steps - len(np.intersect1d(found["step"], np.arange(1, num_steps + 1)))
    off = np.abs(found["loss"] / expected["loss"] - 1).max() if not missing else float("nan")
    print(f"{chosen.kills} kills, {chosen.sharding}: {missing} of {num_steps} steps missing")
    print(f"largest relative difference of a loss to the undisturbed run: {off:.1e} (float32)")


if __name__ == "__main__":
    main()
