"""A module of ours that needs torch, run once in a fresh process: its arguments in, bytes out."""

import subprocess
import sys
from collections.abc import Callable, Sequence

from core.train.timing import ROOT, child_environment


def child_answer(
    module: str,
    arguments: Sequence[str],
    *,
    seconds: float,
    too_late: str,
    failed: Callable[[str], str],
) -> bytes:
    """Return what `python -m module` writes to its standard output.

    Args:
        module: Such as "core.train.weights".
        arguments: What follows it on the command line.
        seconds: After these the process is ended.
        too_late: The sentence for a process that was.
        failed: Makes a sentence of the last line of what a failed process complained about.

    Raises:
        ValueError: With one of these sentences.
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
        lines = error.stderr.decode(errors="replace").strip().splitlines()
        raise ValueError(failed(lines[-1] if lines else f"exit {error.returncode}")) from error
    return child.stdout
