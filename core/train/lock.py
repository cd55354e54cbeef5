"""Who is alive: a worker holds a lock on its run, and the system frees it however it dies."""

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from core.language import _
from core.train.disk import storage_error
from core.train.rundir import LOCK_FILE

# A reader that asks whether the lock is free holds it for microseconds: outlast such moments.
_PATIENCE_SECONDS: Final = 2.0

# Two readers of one process must not take each other for the worker.
_asking: Final = threading.Lock()


class RunBusyError(ValueError):
    """Another worker is training this run."""


@contextmanager
def hold_worker_lock(directory: Path, *, patience: float = _PATIENCE_SECONDS) -> Iterator[None]:
    """Hold the run's lock while the block runs; the worker does so from start to end.

    A process that is forked off while it is held closes its copy at once (filelock sees to that),
    so it cannot keep a dead worker alive.

    Args:
        directory: The run directory.
        patience: Seconds to try.

    Raises:
        RunBusyError: another process holds it.
        RunStorageError: the directory cannot be written to.
    """
    lock = FileLock(directory / LOCK_FILE, poll_interval=0.02)
    if not directory.is_dir():  # the lock would make it again, and nothing else in it
        gone = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        raise storage_error(directory / LOCK_FILE, gone)
    try:
        lock.acquire(timeout=patience)
    except Timeout as error:
        raise RunBusyError(
            _(
                "Run {name} is already being trained by another process; "
                "stop that one first or start a new run."
            ).format(name=directory.name)
        ) from error
    except OSError as error:
        raise storage_error(directory / LOCK_FILE, error) from error
    try:
        yield
    finally:
        lock.release()


def worker_is_alive(directory: Path) -> bool:
    """Say whether some process holds the run's lock; asking leaves nothing behind."""
    path = directory / LOCK_FILE
    if not path.exists():
        return False
    with _asking:
        try:
            with FileLock(path, blocking=False):
                return False
        except Timeout:
            return True
        except OSError:
            # A folder we may only read: nothing can be known, so believe what its state says.
            return path.exists()
