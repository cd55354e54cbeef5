"""One run a device: a lock that its worker holds while it trains, and the queue of those who wait.

Both lie in the user's state folder. In the queue each has a ticket, first come first served, and
the dead do not count.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from core.language import _
from core.machine import state_directory
from core.train.run.disk import write_atomically

_PATIENCE_SECONDS: Final = 2.0
# Who asks whether the lock is free holds it for microseconds: ask again before believing it.
_LOOKS: Final = 4
_SECONDS_BETWEEN_LOOKS: Final = 0.02


class DeviceBusyError(ValueError):
    """Another run is training on the device."""


class DeviceGoneError(ValueError):
    """The device that a run trains on is not there any more."""


def locks_folder() -> Path:
    """Return the folder of the device locks, made on demand."""
    folder = state_directory() / "locks"
    folder.mkdir(exist_ok=True)
    return folder


def _files(device: str) -> tuple[Path, Path]:
    folder = locks_folder()
    return folder / f"{device}.lock", folder / f"{device}.json"


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
    if not in_turn:
        _refuse_if_others_wait(device)
    lock = FileLock(lock_file, poll_interval=0.02)
    try:
        lock.acquire(timeout=patience)
    except Timeout as error:
        raise _busy(device, device_holder(device)) from error
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
            with suppress(OSError, ValueError, KeyError):
                return str(json.loads(holder_file.read_text(encoding="utf-8"))["run"])
    return "?"


def refuse_if_busy(device: str) -> None:
    """Raise if another run trains on the device now, or waits for it.

    Raises:
        DeviceBusyError: naming that run.
    """
    run = device_holder(device)
    if run:
        raise _busy(device, run)
    _refuse_if_others_wait(device)


def _busy(device: str, run: str) -> DeviceBusyError:
    text = _(
        "The run {run} is training on this {device}; one run at a time. Stop it, or wait for it."
    )
    return DeviceBusyError(text.format(run=run, device=device.upper()))


def _refuse_if_others_wait(device: str) -> None:
    for run in queued_runs(device)[:1]:
        text = _(
            "The run {run} waits for this {device} and comes first. Stop it, or wait in line "
            "behind it."
        )
        raise DeviceBusyError(text.format(run=run, device=device.upper()))


def queued_runs(device: str) -> tuple[str, ...]:
    """Return the runs that wait for the device, first come first."""
    tickets = _living(_queue_folder(device))
    return tuple(name.partition("-")[2].removesuffix(".lock") for name in tickets)


@contextmanager
def stand_in_queue(device: str, run: str, asked_at: float) -> Iterator[Callable[[], bool]]:
    """Hold a ticket while the block runs; gives a function that says whether its turn has come.

    Args:
        device: "cpu", "cuda" or "mps".
        run: Name of the run directory.
        asked_at: Unix time at which the start was asked for, in seconds: the place in the queue.
    """
    folder = _queue_folder(device)
    name = f"{int(asked_at * 1e6):020d}-{run}.lock"
    try:
        with FileLock(folder / name, poll_interval=0.02):
            yield lambda: next(iter(_living(folder)), name) == name
    finally:
        with suppress(OSError):  # somebody looks at it just now and will sweep it away
            (folder / name).unlink(missing_ok=True)


def _queue_folder(device: str) -> Path:
    folder = locks_folder() / f"{device}-queue"
    folder.mkdir(exist_ok=True)
    return folder


def _living(folder: Path) -> Iterator[str]:
    """Yield the tickets that some process holds, oldest first; sweep the others away."""
    for path in sorted(folder.glob("*.lock")):
        try:
            with FileLock(path, blocking=False):
                path.unlink(missing_ok=True)
        except Timeout:
            yield path.name
        except OSError:
            continue  # a ticket that vanished, or of another user: not one that could be served
