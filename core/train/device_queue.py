"""Who waits for a device: a ticket each, first come first served, and the dead do not count."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout


def _folder(locks: Path, device: str) -> Path:
    folder = locks / f"{device}-queue"
    folder.mkdir(exist_ok=True)
    return folder


@contextmanager
def stand_in_queue(
    locks: Path, device: str, run: str, asked_at: float
) -> Iterator[Callable[[], bool]]:
    """Hold a ticket while the block runs; gives a function that says whether its turn has come.

    Args:
        locks: The folder of the device locks.
        device: "cpu", "cuda" or "mps".
        run: Name of the run directory.
        asked_at: Unix time at which the start was asked for, in seconds: the place in the queue.
    """
    folder = _folder(locks, device)
    name = f"{int(asked_at * 1e6):020d}-{run}.lock"
    try:
        with FileLock(folder / name, poll_interval=0.02):
            yield lambda: next(iter(_living(folder)), name) == name
    finally:
        with suppress(OSError):  # somebody looks at it just now and will sweep it away
            (folder / name).unlink(missing_ok=True)


def queued_runs(locks: Path, device: str) -> tuple[str, ...]:
    """Return the runs that wait for the device, first come first."""
    return tuple(
        name.partition("-")[2].removesuffix(".lock") for name in _living(_folder(locks, device))
    )


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
