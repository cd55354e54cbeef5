"""From a plan to a running worker: time the device, make the run directory, start the process."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout

from core.language import _
from core.machine import installed_version
from core.train.child import ROOT, child_environment
from core.train.control.commands import send
from core.train.control.device import (
    DeviceBusyError,
    device_holder,
    is_held_by,
    locks_folder,
    refuse_if_busy,
    training_devices,
)
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
from core.train.start.plan import Prepared, memory_of, peak_of
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
) -> Path:
    """Make a run and start its worker; return the run directory.

    A precision of "auto" becomes in run.json what it came to. With `seconds` the run takes as many
    steps as fit into them here; to `wait` is to stand in the queue if another run has the device.

    Raises:
        DeviceBusyError: If the device is taken.
        TimingError: If the device cannot be timed.
        NoSuchGpuError: If the config names a GPU that is not there.
        RunStorageError: If the directory cannot be written to.
    """
    if prepared.config.gpu and prepared.config.may_use_cuda:
        training_devices("cuda", prepared.config.gpu)
    timing = timing_for(prepared, wait=wait)
    if seconds is not None:
        config = fit_steps(prepared.config, seconds, timing.seconds_per_step)
        prepared = replace(prepared, config=config)
    folder = runs_dir or runs_directory()
    begin = partial(create_run, prepared, timing, folder)
    return launch(begin, timing.device, prepared.config.gpu, wait=wait)


def launch(
    begin: Callable[[], Path], device: str, gpu: str, *, wait: bool = False, run: str = ""
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
        spawn_worker(directory, wait=wait)
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


def resume_run(directory: Path, *, wait: bool = False, by: str = "page") -> None:
    """Start a worker that goes on from the run's newest checkpoint.

    Raises:
        ValueError: If it holds no run that this version can go on with.
        DeviceBusyError: If the device is taken.
        RunStorageError: If it cannot be written to.
    """
    reader = RunReader(directory)
    reader.read_new()
    device = section(reader.info, "resolved", directory)["device"]

    def begin() -> Path:
        send(directory, "resume", by=by)  # takes back a stop that came too late for the last worker
        return directory

    gpu = reader.info["config"].get("gpu", "")
    launch(begin, device, gpu, wait=wait, run=directory.name)


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
    prepared: Prepared, timing: Timing, runs_dir: Path, *, sandbox: bool = False
) -> Path:
    """Write a new run directory, ready for its worker; return it. `sandbox`: a student's own."""
    created = time.time()
    directory = runs_dir / new_run_name(prepared.config.name, created)
    try:
        directory.mkdir(parents=True)
        save_dataset(prepared.dataset, directory / "data")
    except OSError as error:
        raise storage_error(directory, error) from error
    info = _info(prepared, timing, directory.name, created)
    write_info(directory, info | {"sandbox": sandbox})
    write_state(directory, RunState(state="starting", time=created))
    return directory


def _info(prepared: Prepared, timing: Timing, name: str, created: float) -> dict[str, Any]:
    config = prepared.config
    vocab_size = prepared.dataset.tokenizer.vocab_size
    memory = memory_of(config, vocab_size, timing.precision)
    peak = peak_of(config, vocab_size, timing.precision, len(prepared.dataset.tokens))
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
            "memory": {part.name: part.num_bytes for part in memory.children},
            "peak_bytes": peak.num_bytes,
            "flops_per_step": config_flops(config, vocab_size),
            "seconds_per_step": timing.seconds_per_step,
            "seconds": predicted_seconds(config, timing.seconds_per_step),
        },
        "versions": {"python": sys.version.split()[0], "torch": installed_version("torch")},
        "parent": None,
    }


def spawn_worker(directory: Path, *, wait: bool = False) -> "subprocess.Popen[bytes]":
    """Start the training process in a session of its own, so that it outlives this one."""
    command = [sys.executable, "-m", "core.train.worker", str(directory)]
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
                env=child_environment(),
                **detached,
            )
    except OSError as error:
        raise storage_error(directory, error) from error
    with suppress(RunStorageError):  # a worker that finds the disk full says so itself
        note_launched(directory, worker.pid)
    threading.Thread(target=worker.wait, daemon=True, name=f"reap {directory.name}").start()
    return worker
