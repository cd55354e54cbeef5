"""From a plan to a running worker: time the device, make the run directory, start the process."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from filelock import FileLock, Timeout

from core.budget import Item
from core.language import _
from core.machine import installed_version
from core.train.child import ROOT, child_environment
from core.train.config import PrecisionName, TrainConfig, config_of_run
from core.train.control.commands import send
from core.train.control.device import (
    DeviceBusyError,
    device_holder,
    is_held_by,
    locks_folder,
    refuse_if_busy,
    training_devices,
)
from core.train.control.ranks import ALONE, Processes, processes_of
from core.train.learning.lora import adapter_bytes
from core.train.run.directory import new_run_name, runs_directory, section, write_info
from core.train.run.disk import RunStorageError, storage_error
from core.train.run.reader import RunReader
from core.train.run.state import (
    STARTING_SECONDS,
    RunState,
    launched_is_alive,
    note_launched,
    write_state,
)
from core.train.start.plan import Prepared, bytes_of
from core.train.start.presets import fit_steps, predicted_seconds
from core.train.start.timing import (
    Timing,
    config_flops,
    is_worth_timing,
    measure_timing,
    peak_of_run,
)
from core.train.text.dataset import save_dataset

_LOOK_SECONDS: Final = 0.05


def start_run(
    prepared: Prepared,
    *,
    seconds: float | None = None,
    runs_dir: Path | None = None,
    wait: bool = False,
    processes: Processes = ALONE,
) -> Path:
    """Make a run and start its worker, or several; return the run directory.

    A precision of "auto" becomes in run.json what it came to. With `seconds` the run takes as many
    steps as fit into them here in one process; to `wait` is to stand in the queue if another run
    has the device.

    Raises:
        ValueError: If so many processes cannot train it.
        DeviceBusyError: If the device is taken.
        TimingError: If the device cannot be timed.
        NoSuchGpuError: If the config names a GPU that is not there.
        RunStorageError: If the directory cannot be written to.
    """
    if prepared.config.gpu and prepared.config.may_use_cuda:
        training_devices("cuda", prepared.config.gpu)
    processes.check(prepared.config)
    _refuse_adapters_alone(prepared.config)
    timing = timing_for(prepared, wait=wait)
    processes.check(replace(prepared.config, precision=cast("PrecisionName", timing.precision)))
    processes.check_device(timing.device)
    if seconds is not None:
        config = fit_steps(prepared.config, seconds, timing.seconds_per_step)
        prepared = replace(prepared, config=config)
    folder = runs_dir or runs_directory()
    begin = partial(create_run, prepared, timing, folder, processes=processes)
    return launch(begin, timing.device, prepared.config.gpu, wait=wait, processes=processes)


def launch(
    begin: Callable[[], Path],
    device: str,
    gpu: str,
    *,
    wait: bool = False,
    run: str = "",
    processes: Processes = ALONE,
) -> Path:
    """Start a worker for the run that `begin` writes down and returns; `run` is one to be resumed.

    Of two starts at once the second finds the device taken, and raises DeviceBusyError: nobody else
    starts a worker on this machine until this one holds its device, or has ended.
    """
    starting = FileLock(locks_folder() / "start.lock", thread_local=False)
    try:
        starting.acquire(timeout=STARTING_SECONDS)
    except Timeout as error:
        message = _("Another run is just starting on this machine; try again once it is training.")
        raise DeviceBusyError(message) from error
    try:
        if not wait:
            refuse_if_busy(device, gpu, by=run)
        directory = begin()
        spawn_worker(directory, wait=wait, processes=processes)
    except BaseException:
        starting.release()
        raise
    attend = partial(
        _attend, starting, directory, lambda: wait or is_held_by(directory.name, device, gpu)
    )
    threading.Thread(target=attend, daemon=True, name=f"start {directory.name}").start()
    return directory


def _attend(starting: FileLock, directory: Path, is_under_way: Callable[[], bool]) -> None:
    """Let others start as soon as the worker holds its device or has ended."""
    until = time.monotonic() + STARTING_SECONDS
    try:
        while launched_is_alive(directory) and not is_under_way() and time.monotonic() < until:
            time.sleep(_LOOK_SECONDS)
    finally:
        starting.release()


def resume_run(
    directory: Path, *, wait: bool = False, by: str = "page", processes: Processes | None = None
) -> None:
    """Start a worker that goes on from the run's newest checkpoint.

    `processes`: if others than those that it was started with.

    Raises:
        ValueError: If it holds no run that this version, or so many processes, can go on with.
        DeviceBusyError: If the device is taken.
        RunStorageError: If it cannot be written to.
    """
    reader = RunReader(directory)
    reader.read_new()
    resolved = section(reader.info, "resolved", directory)
    device, chosen = resolved["device"], processes or processes_of(resolved)
    chosen.check(config_of_run(reader.info))
    chosen.check_device(device)

    def begin() -> Path:
        send(directory, "resume", by=by)  # takes back a stop that came too late for the last worker
        return directory

    gpu = reader.info["config"].get("gpu", "")
    launch(begin, device, gpu, wait=wait, run=directory.name, processes=chosen)


def timing_for(prepared: Prepared, *, wait: bool = False) -> Timing:
    """Return the config's measured speed, timing it now unless its steps would take too long.

    Who waits for the device does not time it while another run trains there: any estimate will do.
    """
    known = prepared.timing
    config = prepared.config
    if known and ((wait and device_holder(known.device, config.gpu)) or not is_worth_timing(known)):
        return known
    return measure_timing(config, prepared.dataset.tokenizer.vocab_size)


def create_run(
    prepared: Prepared,
    timing: Timing,
    runs_dir: Path,
    *,
    sandbox: bool = False,
    processes: Processes = ALONE,
    parent: Mapping[str, Any] | None = None,
) -> Path:
    """Write a new run directory, ready for its worker; return it.

    `sandbox`: a student's own. `parent`: run, step and trained seconds that a fork begins with.
    """
    if parent is None:
        _refuse_adapters_alone(prepared.config)
    created = time.time()
    directory = runs_dir / new_run_name(prepared.config.name, created)
    try:
        directory.mkdir(parents=True)
        save_dataset(prepared.dataset, directory / "data")
    except OSError as error:
        raise storage_error(directory, error) from error
    info = _info(prepared, timing, directory.name, created)
    if processes.count > 1:
        _predict_for_one_of(processes, prepared, timing, info)
    info["resolved"] |= processes.resolved
    info["prediction"]["seconds"] = predicted_seconds(
        still_to_do(prepared.config, parent), timing.seconds_per_step
    )
    write_info(directory, info | {"sandbox": sandbox, "parent": parent})
    write_state(directory, RunState(state="starting", time=created))
    return directory


def _refuse_adapters_alone(config: TrainConfig) -> None:
    if config.lora_rank:
        raise ValueError(
            _(
                "LoRA trains adapters beside the weights of a run that has learned: set "
                "lora_rank=0 here, or fork such a run with lora_rank={rank}."
            ).format(rank=config.lora_rank)
        )


def _predict_for_one_of(
    processes: Processes, prepared: Prepared, timing: Timing, info: dict[str, Any]
) -> None:
    """Predict the bytes of one process: its part of the batch, with FSDP2 of the model too.

    The peak is unknown: DDP's buckets hold the gradients through the forward pass.
    """
    config, count = prepared.config, processes.count
    mine = replace(config, batch_size=max(config.batch_size // count, 1))
    memory, _peak = bytes_of(mine, prepared.dataset.tokenizer.vocab_size, timing.precision)
    held = _held(mine, memory)
    if processes.sharding == "fsdp2":
        states = ("weights", "gradients", "optimizer")
        held |= {name: -(-held[name] // count) for name in states}
    info["prediction"] |= {"memory": held, "peak_bytes": None}
    if timing.device == "cuda" and info["resolved"].get("peak_flops_per_second"):
        info["resolved"]["peak_flops_per_second"] *= count


def _held(config: TrainConfig, memory: Item) -> dict[str, int]:
    held = {part.name: part.num_bytes for part in memory.children}
    return held | adapter_bytes(config, held["weights"])


def still_to_do(config: TrainConfig, parent: Mapping[str, Any] | None) -> TrainConfig:
    """Return the config with the steps and the time that its parent has not done for it."""
    if parent is None:
        return config
    limit = config.max_seconds
    seconds = None if limit is None else max(limit - parent["trained_seconds"], 0.1)
    return replace(config, num_steps=config.num_steps - parent["step"], max_seconds=seconds)


def _info(prepared: Prepared, timing: Timing, name: str, created: float) -> dict[str, Any]:
    config = prepared.config
    vocab_size = prepared.dataset.tokenizer.vocab_size
    num_tokens = len(prepared.dataset.tokens)
    memory, peak = bytes_of(config, vocab_size, timing.precision, num_tokens)
    return {
        "name": name,
        "created": created,
        "config": config.to_json(),
        "resolved": {
            "device": timing.device,
            "device_name": timing.device_name,
            "precision": timing.precision,
            "threads": timing.threads,
            **peak_of_run(timing),
        },
        "text": prepared.dataset.facts(config.corpus),
        "prediction": {
            "num_params": prepared.parameters.amount,
            "memory": _held(config, memory),
            # The peak is that of a run whose weights all learn.
            "peak_bytes": None if config.lora_rank else peak.num_bytes,
            "flops_per_step": config_flops(config, vocab_size),
            "seconds_per_step": timing.seconds_per_step,
        },
        "versions": {"python": sys.version.split()[0], "torch": installed_version("torch")},
    }


def spawn_worker(
    directory: Path, *, wait: bool = False, processes: Processes = ALONE
) -> "subprocess.Popen[bytes]":
    """Start the training process in a session of its own, so that it outlives this one.

    Several are started, watched and ended by torchrun.
    """
    command = [*processes.command, "core.train.worker", str(directory)]
    command += ["--sharding", processes.sharding] if processes.count > 1 else []
    command += ["--asked-at", repr(time.time())] if wait else []
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
                env={**child_environment(), **processes.environment},
                **detached,
            )
    except OSError as error:
        raise storage_error(directory, error) from error
    with suppress(RunStorageError):  # a worker that finds the disk full says so itself
        note_launched(directory, worker.pid)
    threading.Thread(target=worker.wait, daemon=True, name=f"reap {directory.name}").start()
    return worker
