"""From a config to a running worker: predict, refuse what cannot work, make the run, start it."""

import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, cast

import psutil

from core.budget import Item, count_parameters, training_memory
from core.budget.formula import Formula
from core.budget.gpt import Precision
from core.budget.item import item
from core.language import _
from core.machine import installed_version
from core.train.config import PrecisionName, TrainConfig
from core.train.corpora import check_text
from core.train.dataset import Dataset, build_dataset, save_dataset
from core.train.device_lock import refuse_if_busy
from core.train.disk import storage_error
from core.train.info import write_info
from core.train.presets import SHARE_OF_STEPS, START_UP_SECONDS, fit_steps, predicted_seconds
from core.train.rundir import new_run_name, runs_directory
from core.train.state import RunState, write_state
from core.train.timing import ROOT, Timing, child_environment, measure_timing, predicted_timing
from core.units import format_bytes

MEMORY_SHARE: Final = 0.8  # of the free memory that a run may be predicted to take
SLOW_STEP_SECONDS: Final = 3.0  # steps predicted to be slower are not timed before the start

SECONDS = Formula("start_up + num_steps * seconds_per_step / share_of_steps")


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """What is known of a run before it starts.

    Attributes:
        config: As asked for.
        dataset: Its text, cut into tokens.
        parameters: Item in parameters.
        memory: Item in bytes, with a child for each category.
        timing: Speed of this config; None before this machine was ever timed.
        seconds: Item in seconds from the click to the last step; None without a timing.
        free_bytes: Memory that the device has to give.
    """

    config: TrainConfig
    dataset: Dataset
    parameters: Item
    memory: Item
    timing: Timing | None
    seconds: Item | None
    free_bytes: int


def prepare(config: TrainConfig, upload: bytes | None = None, upload_name: str = "") -> Prepared:
    """Return everything that can be said of a run before it starts; cheap enough for a slider.

    Raises:
        ValueError: If the text cannot be learnt from, or the run does not fit into free memory.
    """
    dataset = _dataset(config.corpus, config.tokenizer, upload, upload_name)
    vocab_size = dataset.tokenizer.vocab_size
    check_text(dataset.text, len(dataset.tokens), vocab_size, config.seq_len)
    timing = predicted_timing(config, vocab_size)
    shape = config.shape(vocab_size)
    memory = training_memory(shape, config.batch_size, _memory_precision(config, timing))
    prepared = Prepared(
        config=config,
        dataset=dataset,
        parameters=count_parameters(shape),
        memory=memory,
        timing=timing,
        seconds=seconds_item(config, timing) if timing else None,
        free_bytes=_free_bytes(timing),
    )
    _refuse_if_too_large(prepared)
    return prepared


def seconds_item(config: TrainConfig, timing: Timing) -> Item:
    """Return the predicted seconds from the click to the last step."""
    values = {
        "start_up": START_UP_SECONDS,
        "num_steps": config.num_steps,
        "seconds_per_step": timing.seconds_per_step,
        "share_of_steps": SHARE_OF_STEPS,
    }
    if config.max_steps_per_second:
        governed = 1 / config.max_steps_per_second
        values["seconds_per_step"] = max(timing.seconds_per_step, governed)
    predicted = item(
        "seconds",
        SECONDS,
        values,
        unit="s",
        kind="estimated",
        source=f"{timing.num_steps_timed} steps timed on {timing.device_name}"
        if timing.num_steps_timed
        else f"scaled by FLOPs from configs timed on {timing.device_name}",
    )
    return replace(
        predicted,
        low=predicted_seconds(config, timing.fastest_seconds),
        high=predicted_seconds(config, timing.slowest_seconds),
    )


def start_run(
    config: TrainConfig,
    *,
    seconds: float | None = None,
    runs_dir: Path | None = None,
    upload: bytes | None = None,
    upload_name: str = "",
) -> Path:
    """Make a run and start its worker; return the run directory.

    Args:
        config: What to train. Its precision may be "auto"; run.json gets what that came to.
        seconds: If given, `num_steps` is set to what fits into them on this device.
        runs_dir: Where; `runs_directory()` by default.
        upload: The bytes of an uploaded text, for corpus "upload".
        upload_name: Its file name.

    Raises:
        ValueError: If the config, the text or the memory forbid it, or the device is taken.
        TimingError: If the device cannot be timed.
        RunStorageError: If the directory cannot be written to.
    """
    prepared = prepare(config, upload, upload_name)
    timing = _timing_for(prepared)
    refuse_if_busy(timing.device)
    if seconds is not None:
        config = fit_steps(config, seconds, timing.seconds_per_step)
    directory = create_run(replace(prepared, config=config), timing, runs_dir or runs_directory())
    spawn_worker(directory)
    return directory


def resume_run(directory: Path) -> None:
    """Start a worker that goes on from the run's newest checkpoint."""
    spawn_worker(directory)


def _timing_for(prepared: Prepared) -> Timing:
    """Return the config's measured speed, timing it now unless its steps would take too long."""
    known = prepared.timing
    if known and (known.num_steps_timed or known.seconds_per_step > SLOW_STEP_SECONDS):
        return known
    return measure_timing(prepared.config, prepared.dataset.tokenizer.vocab_size)


def create_run(prepared: Prepared, timing: Timing, runs_dir: Path) -> Path:
    """Write a new run directory, ready for its worker; return it.

    Raises:
        RunStorageError: If it cannot be written.
    """
    created = time.time()
    directory = runs_dir / new_run_name(prepared.config.name, created)
    try:
        directory.mkdir(parents=True)
        save_dataset(prepared.dataset, directory / "data")
    except OSError as error:
        raise storage_error(directory, error) from error
    write_info(directory, _info(prepared, timing, directory.name, created))
    write_state(directory, RunState(state="starting", time=created))
    return directory


def _info(prepared: Prepared, timing: Timing, name: str, created: float) -> dict[str, Any]:
    config = prepared.config
    shape = config.shape(prepared.dataset.tokenizer.vocab_size)
    memory = training_memory(shape, config.batch_size, cast("Precision", timing.precision))
    return {
        "name": name,
        "created": created,
        "config": config.to_json(),
        "resolved": {
            "device": timing.device,
            "device_name": timing.device_name,
            "precision": timing.precision,
            "threads": timing.threads,
        },
        "text": prepared.dataset.facts(config.corpus),
        "prediction": {
            "num_params": prepared.parameters.amount,
            "memory": {part.name: part.num_bytes for part in memory.children},
            "seconds_per_step": timing.seconds_per_step,
            "seconds": predicted_seconds(config, timing.seconds_per_step),
        },
        "versions": {"python": sys.version.split()[0], "torch": installed_version("torch")},
        "parent": None,
    }


def spawn_worker(directory: Path) -> "subprocess.Popen[bytes]":
    """Start the training process in a session of its own, so that it outlives this one."""
    command = [sys.executable, "-m", "core.train.worker", str(directory)]
    detached: dict[str, Any] = (
        {"creationflags": 0x00000200 | 0x00000008}  # new process group, no console
        if os.name == "nt"
        else {"start_new_session": True}
    )
    try:
        with (directory / "stdout.log").open("ab") as log:
            worker = subprocess.Popen(  # noqa: S603  our own module under our own interpreter
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
                env=child_environment(),
                **detached,
            )
    except OSError as error:
        raise storage_error(directory, error) from error
    threading.Thread(target=worker.wait, daemon=True, name=f"reap {directory.name}").start()
    return worker


@lru_cache(maxsize=4)
def _dataset(corpus: str, tokenizer: str, upload: bytes | None, upload_name: str) -> Dataset:
    config = TrainConfig.from_json({"corpus": corpus, "tokenizer": tokenizer, "seq_len": 8})
    return build_dataset(config, upload, upload_name)


def _memory_precision(config: TrainConfig, timing: Timing | None) -> Precision:
    """Return the precision to count bytes for; unresolved "auto" counts as fp32, the larger."""
    chosen: PrecisionName | str = config.precision
    if chosen == "auto":
        chosen = timing.precision if timing else "fp32"
    return cast("Precision", chosen)


def _free_bytes(timing: Timing | None) -> int:
    if timing and timing.device_bytes:
        return timing.device_bytes
    return int(psutil.virtual_memory().available)


def _refuse_if_too_large(prepared: Prepared) -> None:
    allowed = int(prepared.free_bytes * MEMORY_SHARE)
    needed = prepared.memory.num_bytes
    if needed > allowed:
        raise ValueError(
            _(
                "This run needs {needed} by prediction, and {allowed} of the {free} of free "
                "memory may be used. Choose a smaller batch, context or model."
            ).format(
                needed=format_bytes(needed),
                allowed=format_bytes(allowed),
                free=format_bytes(prepared.free_bytes),
            )
        )
