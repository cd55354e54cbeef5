"""What a GPU does with our training, in one table: `python benchmarks/gpu_proof.py`.

Needs torch, numpy, psutil and filelock alone, and eight minutes at most: what is not done by then
is a row that says so. Where there is no GPU the rows that need one say so, and those that a CPU can
show are shown on it. With a GPU the table and its JSON are written beside this file after each row,
ready to be committed.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

import psutil

from core.budget.by_hand.gpt import Precision, training_memory
from core.budget.diagnosis.snapshot.answer import as_snapshot, read_in_child
from core.machine import installed_version
from core.machine.gpus import gpu_facts
from core.machine.probe import probe_here
from core.train.child import ROOT, child_environment
from core.train.config import TrainConfig
from core.train.control.commands import send
from core.train.run.directory import INFO_FILE, read_info
from core.train.run.reader import RunReader
from core.train.run.records import newest
from core.train.run.state import read_state
from core.train.start.launch import create_run, spawn_worker
from core.train.start.plan import Prepared, prepare
from core.train.start.presets import SIZES
from core.train.start.timing import Timing, config_flops, measure_timing
from core.units import format_bytes

if TYPE_CHECKING:
    import torch

NO_GPU: Final = "not run: no GPU"
MAX_SECONDS: Final = 470.0
VOCAB_SIZE: Final = 65
LARGE: Final = ("10.7M", "124M")
SMALL: Final = "110k"
BURST: Final = 32
WAIT_SECONDS: Final = 120.0
NUM_STEPS: Final = 60
_QUIET: Final = {"eval_interval": 20, "sample_interval": 60, "memory_interval": 60}


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """A line of the table. `is_right` is None where nothing was decided."""

    what: str
    found: str
    is_right: bool | None = None


Rows = Iterator[Row]


def size_config(key: str, **changes: object) -> TrainConfig:
    """Return the config of a reference size."""
    settings = SIZES[key]
    return TrainConfig.from_json({"name": f"proof {key}", **settings, **changes})


def speeds(peak: float | None) -> Rows:
    """Time the reference sizes; MFU against the product that was measured here."""
    for key in LARGE if has_gpu() else (SMALL,):
        config = size_config(key)
        timing = measure_timing(config, VOCAB_SIZE)
        tokens = config.tokens_per_step / timing.seconds_per_step
        mfu = config_flops(config, VOCAB_SIZE) / timing.seconds_per_step / peak if peak else None
        yield Row(
            what=f"speed of {key}, batch {config.batch_size}, context {config.seq_len}",
            found=f"{1000 * timing.seconds_per_step:.2f} ms a step, {tokens:,.0f} tokens/s, "
            f"{timing.precision}, MFU {'unknown' if mfu is None else f'{100 * mfu:.0f} %'}",
        )


def memory(key: str) -> Rows:
    """Set the closed form beside what a watched step holds, category by category, and the peak."""
    import torch

    from core.train.learning.memory_watch import MemoryWatch
    from core.train.learning.precision import candidates

    device = torch.device("cuda" if has_gpu() else "cpu")
    config = replace(size_config(key), precision=candidates(device)[0])
    trainer = make_trainer(config, device)
    trainer.train_step()
    watch = MemoryWatch(trainer.model, trainer.optimizer, (trainer.training, trainer.validation))
    trainer.train_step(watch)
    precision: Precision = config.precision  # type: ignore[assignment]
    predicted = training_memory(config.shape(VOCAB_SIZE), config.batch_size, precision)
    for part in predicted.children:
        held = getattr(watch.result, part.name)
        yield Row(
            what=f"memory of {key}: {part.name}",
            found=f"{format_bytes(held)}, predicted {format_bytes(part.num_bytes)}",
            is_right=math.isclose(held, part.num_bytes, rel_tol=0.02, abs_tol=1024),
        )
    peak = watch.result.peak
    yield Row(
        what=f"memory of {key}: peak ({watch.result.source})",
        found=f"{format_bytes(peak)}, predicted {format_bytes(predicted.num_bytes)}",
    )


def memory_snapshot(path: Path) -> Rows:
    """Write a memory snapshot of a step, read it, and compare its peak with the allocator's."""
    what = "a memory snapshot's peak, beside the allocator's"
    if not has_gpu():
        yield Row(what=what, found=NO_GPU)
        return
    import torch

    from core.train.worker.memory_snapshot import recorded

    trainer = make_trainer(replace(size_config("10.7M"), precision="bf16"), torch.device("cuda"))
    trainer.train_step()
    torch.cuda.reset_peak_memory_stats()
    with recorded(path):
        trainer.train_step()
    told = as_snapshot(read_in_child(path)).peak.active
    known = torch.cuda.memory_stats()["requested_bytes.all.peak"]
    yield Row(what=what, found=f"{told:,} and {known:,} bytes", is_right=told == known)


def sync_free() -> Rows:
    """Launch a burst while every wait for the device is an error."""
    import torch

    what = f"{BURST} steps wait for nothing (sync debug mode: error)"
    if not has_gpu():
        yield Row(what=what, found=NO_GPU)
        return
    trainer = make_trainer(replace(size_config("0.8M"), precision="bf16"), torch.device("cuda"))
    trainer.train_step()
    torch.cuda.set_sync_debug_mode("error")
    try:
        launched = [trainer.launch_step() for _step in range(BURST)]
        found = "yes"
    except RuntimeError as error:
        launched, found = [], str(error)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    if launched:
        trainer.read_steps(launched)
    yield Row(what=what, found=found, is_right=found == "yes")


def commands(folder: Path) -> Rows:
    """Pause, step, resume and stop a real run; how long each took to be obeyed."""
    directory = new_run(folder, num_steps=100_000)
    spawn_worker(directory)
    wait(lambda: read_state(directory).step > BURST, "the run began")
    for op, reached in (("pause", "paused"), ("resume", "running"), ("stop", "stopped")):
        began = time.perf_counter()
        send(directory, op, by="proof")
        wait(partial(_is_in, directory, reached), op)
        took = 1000 * (time.perf_counter() - began)
        yield Row(what=f"{op}, from the command to the state", found=f"{took:.0f} ms")


def _is_in(directory: Path, state: str) -> bool:
    return read_state(directory).state == state


def resumed(folder: Path) -> Rows:
    """Stop a run in the middle, resume it, and compare its losses with an uninterrupted one's."""
    whole, parts = new_run(folder), new_run(folder, max_steps_per_second=30.0)
    finish(whole)
    spawn_worker(parts)
    wait(lambda: read_state(parts).step >= NUM_STEPS // 3, "a third of the steps")
    send(parts, "stop", by="proof")
    wait(lambda: read_state(parts).is_final, "the stop")
    send(parts, "resume", by="proof")
    finish(parts)
    one, two = (newest(RunReader(each).read_new().records) for each in (whole, parts))
    apart = max(abs(float(a) - float(b)) for a, b in zip(one["loss"], two["loss"], strict=True))
    same = "bit-equal" if apart == 0 else f"at most {apart:.2g} apart"
    # CUDA adds in no fixed order in some backward passes; a CPU does not.
    is_right = len(one) == len(two) == NUM_STEPS and (apart < 0.05 if has_gpu() else apart == 0)
    what = "losses of a resumed run and an uninterrupted one"
    yield Row(what=what, found=same, is_right=is_right)


def full_gpu(folder: Path) -> Rows:
    """Start a run on a GPU that somebody else has filled."""
    what = "a run on a full GPU"
    if not has_gpu():
        yield Row(what=what, found=NO_GPU)
        return
    import torch

    free = torch.cuda.mem_get_info()[0]
    hog = torch.empty(max(free - (600 << 20), 0), dtype=torch.uint8, device="cuda")
    large = {**size_config("10.7M").to_json(), "num_steps": NUM_STEPS}
    directory = new_run(folder, **large)
    finish(directory)
    state = read_state(directory)
    del hog
    torch.cuda.empty_cache()
    told = f"{state.state}, {state.reason}"
    yield Row(what=what, found=told, is_right=state.reason == "out_of_memory")


def vanished(folder: Path) -> Rows:
    """Resume a run of a GPU in a process that sees none."""
    directory = new_run(folder)
    info = read_info(directory)
    info["resolved"]["device"] = "cuda"
    (directory / INFO_FILE).write_text(json.dumps(info), encoding="utf-8")
    finish(directory, CUDA_VISIBLE_DEVICES="")
    state = read_state(directory)
    told = f"{state.state}, {state.reason}"
    is_right = state.reason == "device_gone"
    yield Row(what="a run whose GPU has vanished", found=told, is_right=is_right)


def two_gpus() -> Rows:
    """Say how many GPUs torch sees; with two, a step runs on each."""
    what = "two GPUs"
    if not has_gpu():
        yield Row(what=what, found=NO_GPU)
        return
    import torch

    count = torch.cuda.device_count()
    if count < 2:
        yield Row(what=what, found="not run: one GPU")
        return
    config = replace(size_config(SMALL), precision="fp32")
    losses = [
        make_trainer(config, torch.device("cuda", index)).train_step().loss for index in range(2)
    ]
    same = math.isclose(*losses, rel_tol=1e-3)
    yield Row(what=what, found=f"first losses {losses[0]:.5f} and {losses[1]:.5f}", is_right=same)


def gpu_tests() -> Rows:
    """Run the tests that bear the mark `gpu`."""
    what = "tests marked gpu"
    if not has_gpu() or find_spec("pytest") is None:
        yield Row(what=what, found="not run: no pytest" if has_gpu() else NO_GPU)
        return
    command = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "tests/core"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    last = (done.stdout.strip().splitlines() or [done.stderr.strip()[-200:]])[-1]
    yield Row(what=what, found=last, is_right=done.returncode == 0)


def compiled() -> Rows:
    """Time the large sizes again as torch.compile makes them, without and with CUDA graphs."""
    import torch

    for key in LARGE:
        for mode, words in (("default", "compile"), ("reduce-overhead", "compile, CUDA graphs")):
            what = f"speed of {key}, {words}"
            if not has_gpu():
                yield Row(what=what, found=NO_GPU)
                continue
            config = replace(size_config(key), precision="bf16")
            trainer = make_trainer(config, torch.device("cuda"))
            trainer.model.compile(mode=mode)
            began = time.perf_counter()
            trainer.train_step()
            first, step = time.perf_counter() - began, step_seconds(trainer)
            found = (
                f"{1000 * step:.2f} ms a step, {config.tokens_per_step / step:,.0f} tokens/s, "
                f"{config.precision}; the first step {first:.0f} s"
            )
            yield Row(what=what, found=found)


def step_seconds(trainer: Any) -> float:  # noqa: ANN401  torch is late
    """Return the median seconds of a step over three bursts."""
    took = []
    for _burst in range(4):
        began = time.perf_counter()
        trainer.read_steps([trainer.launch_step() for _step in range(BURST)])
        took.append((time.perf_counter() - began) / BURST)
    return statistics.median(took[1:])


def peer(clone: Path | None) -> Rows:
    """Train nanoGPT's own CPU shape beside it, if a clone is given."""
    what = "nanoGPT beside ours (its CPU shape)"
    if clone is None:
        yield Row(what=what, found="not run: no clone was given (--peer)")
        return
    from core.train.start.bench import bench_lines

    yield Row(what=what, found="; ".join(" ".join(line.split()) for line in bench_lines(clone, 5)))


def has_gpu() -> bool:
    """Say whether torch computes on a CUDA device here."""
    from core.train.learning.precision import gpu_trouble

    return gpu_trouble() is None


def make_trainer(config: TrainConfig, device: "torch.device") -> Any:  # noqa: ANN401  torch is late
    """Return a trainer on random tokens."""
    import numpy as np

    from core.train.learning.trainer import Trainer

    draws = np.random.default_rng(0).integers(0, VOCAB_SIZE, 20 * (config.seq_len + 1))
    ids = draws.astype(np.uint16)
    return Trainer(config, ids, ids, VOCAB_SIZE, device)


def new_run(folder: Path, **changes: object) -> Path:
    """Return a run directory on the best device, ready for its worker."""
    settings = {**_QUIET, "num_steps": NUM_STEPS, "checkpoint_interval": 20, **changes}
    prepared = prepare(TrainConfig.from_json({"name": "proof", **settings}))
    return create_run(prepared, timing_of(prepared), folder)


def timing_of(prepared: Prepared) -> Timing:
    """Return a measured speed; a run on a full GPU borrows that of the small one."""
    known = prepared.timing
    if known is not None:
        return known
    return measure_timing(size_config(SMALL), prepared.dataset.tokenizer.vocab_size)


def finish(directory: Path, **environment: str) -> None:
    """Let a worker do the run to its end."""
    subprocess.run(
        [sys.executable, "-m", "core.train.worker", str(directory)],
        cwd=ROOT,
        env={**child_environment(), **environment},
        capture_output=True,
        timeout=WAIT_SECONDS,
        check=False,
    )


def wait(condition: Callable[[], bool], what: str) -> None:
    """Wait for it.

    Raises:
        RuntimeError: It does not come.
    """
    until = time.monotonic() + WAIT_SECONDS
    while not condition():
        if time.monotonic() > until:
            raise RuntimeError(f"not within {WAIT_SECONDS:.0f} s: {what}")
        time.sleep(0.01)


def prove(clone: Path | None, folder: Path, snapshot: Path | None = None) -> Rows:
    """Yield the whole table; a part that breaks off is a row that is not right."""
    probe = probe_here()
    device = probe.best_device
    rates = {speed.what: speed.median for speed in device.speeds}
    peak = rates.get("matmul bfloat16" if has_gpu() else "matmul float32")
    facts = "; ".join(gpu_facts()) or NO_GPU
    yield Row(what="device", found=f"{device.name}, torch {probe.torch}")
    yield Row(what="driver and cards", found=facts)
    parts: tuple[Callable[[], Rows], ...] = (
        gpu_tests,
        lambda: speeds(peak),
        lambda: memory("10.7M" if has_gpu() else SMALL),
        lambda: memory_snapshot(snapshot or folder.parent / "snapshot.pickle"),
        sync_free,
        lambda: commands(folder),
        lambda: resumed(folder),
        lambda: full_gpu(folder),
        lambda: vanished(folder),
        two_gpus,
        lambda: peer(clone),
        compiled,
    )
    for part in parts:
        try:
            yield from part()
        except Exception as error:  # noqa: BLE001  the table is the report: other rows count too
            told = f"{type(error).__name__}: {error}"
            yield Row(what="a part broke off", found=told, is_right=False)


def markdown(rows: list[Row]) -> str:
    """Return the table."""
    marks = {True: "yes", False: "**no**", None: ""}
    lines = [f"| {row.what} | {row.found} | {marks[row.is_right]} |" for row in rows]
    return "\n".join(["| what | found | as it should be |", "|---|---|---|", *lines])


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """The rows so far: printed, and written into a folder if there is one."""

    folder: Path | None
    rows: list[Row]

    def add(self, row: Row) -> None:
        """Print a row and write the whole table."""
        self.rows.append(row)
        print(markdown([row]).splitlines()[-1], flush=True)
        if self.folder is None:
            return
        facts = {"date": datetime.now(UTC).date().isoformat(), "torch": installed_version("torch")}
        report = {**facts, "rows": [asdict(row) for row in self.rows]}
        (self.folder / "gpu_proof.json").write_text(json.dumps(report, indent=2), encoding="utf-8")
        table = f"{facts['date']}, torch {facts['torch']}\n\n{markdown(self.rows)}\n"
        (self.folder / "gpu_proof.md").write_text(table, encoding="utf-8")

    def time_is_up(self) -> None:
        """End this process and those it started, whatever they do; a row says so."""
        self.add(Row(what="the rest", found="not run: the eight minutes are over", is_right=False))
        for child in psutil.Process().children(recursive=True):
            child.kill()
        os._exit(1)


def main() -> None:
    """Measure, print, and fail if a row is not right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", type=Path, help="a clone of nanoGPT")
    parser.add_argument("--out", type=Path, help="folder of the table; beside this file on a GPU")
    parser.add_argument("--snapshot", type=Path, help="where the memory snapshot of a step stays")
    parser.add_argument("--seconds", type=float, default=MAX_SECONDS, help="that it may take")
    chosen = parser.parse_args()
    report = Report(folder=chosen.out or (Path(__file__).parent if has_gpu() else None), rows=[])
    timer = threading.Timer(chosen.seconds, report.time_is_up)
    timer.daemon = True
    timer.start()
    with tempfile.TemporaryDirectory() as name:
        os.environ |= {"B2G_STATE_DIR": f"{name}/state", "B2G_RUNS_DIR": f"{name}/runs"}
        for row in prove(chosen.peer, Path(name) / "runs", chosen.snapshot):
            report.add(row)
    timer.cancel()
    if any(row.is_right is False for row in report.rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
