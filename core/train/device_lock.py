"""One run a device: the worker holds a lock in the user's state folder while it trains."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from core.language import _
from core.machine import state_directory
from core.train.device_queue import queued_runs
from core.train.disk import write_atomically

_PATIENCE_SECONDS: Final = 2.0
# Who asks whether the lock is free holds it for microseconds: ask again before believing it.
_LOOKS: Final = 4
_SECONDS_BETWEEN_LOOKS: Final = 0.02


class DeviceBusyError(ValueError):
    """Another run is training on the device."""


def _files(device: str) -> tuple[Path, Path]:
    folder = locks_folder()
    return folder / f"{device}.lock", folder / f"{device}.json"


def locks_folder() -> Path:
    """Return the folder of the device locks, made on demand."""
    folder = state_directory() / "locks"
    folder.mkdir(exist_ok=True)
    return folder


@contextmanager
def hold_device(
    device: str, run: str, *, patience: float = _PATIENCE_SECONDS, in_turn: bool = False
) -> Iterator[None]:
    """Hold the device while the block runs.

    Args:
        device: "cpu", "cuda" or "mps".
        run: Name of the run directory, told to whoever asks who holds it.
        patience: Seconds to try.
        in_turn: The run stood in the queue; others let those who stand there go first.

    Raises:
        DeviceBusyError: another run holds it, or waits for it.
    """
    lock_file, holder_file = _files(device)
    waiting = () if in_turn else queued_runs(locks_folder(), device)
    if waiting:
        raise DeviceBusyError(_waited_for(device, waiting[0]))
    lock = FileLock(lock_file, poll_interval=0.02)
    try:
        lock.acquire(timeout=patience)
    except Timeout as error:
        raise DeviceBusyError(_busy(device, device_holder(device))) from error
    try:
        write_atomically(holder_file, json.dumps({"run": run, "time": time.time()}))
        yield
    finally:
        holder_file.unlink(missing_ok=True)
        lock.release()


def device_holder(device: str) -> str:
    """Return the run that trains on the device now; "" if it is free."""
    lock_file, holder_file = _files(device)
    for look in range(_LOOKS):
        time.sleep(_SECONDS_BETWEEN_LOOKS if look else 0.0)
        try:
            with FileLock(lock_file, blocking=False):
                return ""
        except Timeout:
            name = _name_in(holder_file)
        if name:
            return name
    return "?"


def _name_in(holder_file: Path) -> str:
    try:
        return str(json.loads(holder_file.read_text(encoding="utf-8"))["run"])
    except (OSError, ValueError, KeyError):
        return ""


def refuse_if_busy(device: str) -> None:
    """Raise if another run trains on the device now, or waits for it.

    Raises:
        DeviceBusyError: naming that run.
    """
    run = device_holder(device)
    if run:
        raise DeviceBusyError(_busy(device, run))
    waiting = queued_runs(locks_folder(), device)
    if waiting:
        raise DeviceBusyError(_waited_for(device, waiting[0]))


def _busy(device: str, run: str) -> str:
    return _(
        "The run {run} is training on this {device}; one run at a time. Stop it, or wait for it."
    ).format(run=run, device=device.upper())


def _waited_for(device: str, run: str) -> str:
    return _(
        "The run {run} waits for this {device} and comes first. Stop it, or wait in line behind it."
    ).format(run=run, device=device.upper())
