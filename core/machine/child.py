"""A program of ours in a fresh process: what needs torch runs there, not in the server."""

import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from core.language import _

_ROOT: Final = Path(__file__).parents[2]
_ERROR: Final = re.compile(r"(\w+\.)*\w*(Error|Exception|Interrupt)\b")


# Of an absolute path all but its last two names.
_FOLDERS: Final = re.compile(r"(?<![\w/.:])(?:/[^/\s'\"]+)+/(?=[^/\s'\"]+/[^/\s'\"]+)")


def error_line(complaints: str, status: int) -> str:
    r"""Return the line in which a failed process names its error: the last such line.

    Below the error CUDA repeats some lines of advice; a process without a traceback says what is
    wrong last, and one without a word has its exit status.
    Of a file only its name is told and that of its folder: a class may read it.

    >>> error_line("torch.AcceleratorError: CUDA error: out of memory\nFor debugging ...", 1)
    'torch.AcceleratorError: CUDA error: out of memory'
    """
    lines = [line for line in complaints.splitlines() if line.strip()]
    named = [line for line in lines if _ERROR.match(line)]
    line = (named or lines or [f"exit status {status}"])[-1].strip()
    return _FOLDERS.sub("", line)


def lines_of(module: str, arguments: Sequence[str] = (), *, seconds: float) -> Iterator[str]:
    """Run `python -m module` and yield each line that it prints as soon as it does.

    After so many seconds the process is ended.

    Raises:
        ValueError: The process failed or was not done in time.
    """
    command = [sys.executable, "-m", module, *arguments]
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
        subprocess.Popen(  # noqa: S603  our own module
            command, cwd=_ROOT, stdout=subprocess.PIPE, stderr=errors, encoding="utf-8"
        ) as child,
    ):
        alarm = threading.Timer(seconds, child.kill)
        alarm.start()
        try:
            assert child.stdout is not None  # noqa: S101  asked for above
            yield from (line.rstrip("\n") for line in child.stdout)
            child.wait()
        finally:
            is_late = not alarm.is_alive()
            alarm.cancel()
            child.kill()
        if child.returncode != 0:
            errors.seek(0)
            raise ValueError(_reason(module, child.returncode, errors.read(), is_late=is_late))


def _reason(module: str, status: int, errors: str, *, is_late: bool) -> str:
    if is_late:
        return _(
            "The program {module} was not done in time; try again when the machine is less busy."
        ).format(module=module)
    reason = error_line(errors, status)
    return _("The program {module} failed: {reason}").format(module=module, reason=reason)
