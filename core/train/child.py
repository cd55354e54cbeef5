"""A module of ours in a separate process: where it runs, with what around it, what it answers."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from core.machine.child import error_line

ROOT: Final = Path(__file__).resolve().parents[2]
# glibc gives freed memory back to the system, and every step of a training would fault the same
# pages in again: 1,100 faults and 5 ms of the 100 that a step of nanoGPT's CPU shape takes
# (measured). Other C libraries know neither name.
KEEP_FREED_MEMORY: Final = {
    "MALLOC_TRIM_THRESHOLD_": str(4 * 1024**3),
    "MALLOC_MMAP_THRESHOLD_": str(32 * 1024**2),
}


def child_environment() -> dict[str, str]:
    """Return the environment of a training process.

    Waiting threads sleep instead of spinning, and freed memory is kept for the next step.
    """
    ours = {"OMP_WAIT_POLICY": "PASSIVE", "PYTHONPATH": str(ROOT)}
    return {**KEEP_FREED_MEMORY, **os.environ, **ours}


def child_answer(
    module: str,
    arguments: Sequence[str],
    *,
    seconds: float,
    too_late: str,
    failed: Callable[..., str],
) -> bytes:
    """Return what `python -m module` writes to its standard output, or raise a ValueError.

    `failed` makes its sentence of `reason`, what a failed process complained of.
    """
    try:
        child = subprocess.run(  # noqa: S603  our own module under our own interpreter
            [sys.executable, "-m", module, *arguments],
            capture_output=True,
            timeout=seconds,
            cwd=ROOT,
            env=child_environment(),
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        raise ValueError(too_late) from error
    except subprocess.CalledProcessError as error:
        complaints = error.stderr.decode(errors="replace")
        reason = error_line(complaints, error.returncode)
        raise ValueError(failed(reason=reason)) from error
    return child.stdout
