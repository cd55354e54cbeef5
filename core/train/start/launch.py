"""From a plan to a running worker: time the device, make the run directory, start the process."""

import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from core.budget.by_hand.gpt import Precision, training_memory
from core.machine import installed_version
from core.train.child import ROOT, child_environment
from core.train.control.commands import send
from core.train.control.device import device_holder, refuse_if_busy
from core.train.control.training_device import training_devices
from core.train.run.directory import new_run_name, runs_directory, write_info
from core.train.run.disk import RunStorageError, storage_error
from core.train.run.reader import RunReader
from core.train.run.state import RunState, note_launched, write_state
from core.train.start.peak import peak_of_run
from core.train.start.plan import Prepared
from core.train.start.presets import fit_steps, predicted_seconds
from core.train.start.timing import Timing, config_flops, is_worth_timing, measure_timing
from core.train.text.dataset import save_dataset


def start_run(
    prepared: Prepared,
    *,
    seconds: float | None = None,
    runs_dir: Path | None = None,
    wait: bool = False,
) -> Path:
    """Make a run and start its worker; return the run directory.

    Args:
        prepared: What to train, as `prepare`, `plan_run` or `predict_run` made it. Its precision
            may be "auto"; run.json gets what that came to.
        seconds: If given, `num_steps` is set to what fits into them on this device.
        runs_dir: Where; `runs_directory()` by default.
        wait: If another run has the device, stand in the queue instead of refusing.

    Raises:
        DeviceBusyError: If the device is taken.
        TimingError: If the device cannot be timed.
        NoSuchGpuError: If the config names a GPU that is not there.
        RunStorageError: If the directory cannot be written to.
    """
    if prepared.config.gpu and prepared.config.may_use_cuda:
        training_devices("cuda", prepared.config.gpu)
    timing = timing_for(prepared, wait=wait)
    if not wait:
        refuse_if_busy(timing.device, prepared.config.gpu)
    if seconds is not None:
        config = fit_steps(prepared.config, seconds, timing.seconds_per_step)
        prepared = replace(prepared, config=config)
    directory = create_run(prepared, timing, runs_dir or runs_directory())
    spawn_worker(directory, wait=wait)
    return directory


def resume_run(directory: Path, *, wait: bool = False, by: str = "page") -> None:
    """Start a worker that goes on from the run's newest checkpoint.

    Args:
        directory: The run directory.
        wait: If another run has the device, stand in the queue instead of failing.
        by: Who asked, for the trace that every command leaves.

    Raises:
        ValueError: If it holds no run that this version can go on with.
        RunStorageError: If it cannot be written to.
    """
    RunReader(directory).read_new()
    send(directory, "resume", by=by)  # a stop that came too late for the last worker is taken back
    spawn_worker(directory, wait=wait)


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
    """Write a new run directory, ready for its worker; return it. `sandbox`: a student's own.

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
    info = _info(prepared, timing, directory.name, created)
    write_info(directory, info | {"sandbox": sandbox})
    write_state(directory, RunState(state="starting", time=created))
    return directory


def _info(prepared: Prepared, timing: Timing, name: str, created: float) -> dict[str, Any]:
    config = prepared.config
    vocab_size = prepared.dataset.tokenizer.vocab_size
    shape = config.shape(vocab_size)
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
            **peak_of_run(timing),
        },
        "text": prepared.dataset.facts(config.corpus),
        "prediction": {
            "num_params": prepared.parameters.amount,
            "memory": {part.name: part.num_bytes for part in memory.children},
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
