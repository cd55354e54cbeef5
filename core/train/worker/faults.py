"""Places where a test ends the process on purpose: between the writes that must survive it.

Off unless the environment variable B2G_FAULT names a place, and which time it is passed, such as
"checkpoint_synced:2". The process then ends there as by `kill -9`: nothing is cleaned up.
"""

import os
import signal
from typing import Final

VARIABLE: Final = "B2G_FAULT"
POINTS: Final = (
    "checkpoint_written",  # its bytes are with the system, perhaps not yet on the disk
    "checkpoint_synced",  # they are on the disk, under a temporary name
    "checkpoint_placed",  # it has its name, which may not yet be on the disk
    "step_recorded",  # the step is committed, what belongs to it is not yet written
)

_armed: dict[str, int] = {}  # point -> times that it is still to be passed


def arm(order: str) -> None:
    """Let the process die at a point; an empty order disarms.

    The order is "point" or "point:number", the number counting the passes from 1.

    Raises:
        ValueError: there is no such point, or the number is none.
    """
    _armed.clear()
    if not order:
        return
    point, _colon, number = order.partition(":")
    if point not in POINTS or not (number or "1").isdecimal():
        raise ValueError(
            f"{order!r} is no fault; write one of {', '.join(POINTS)}, and :2 for its 2nd time."
        )
    _armed[point] = int(number or 1)


def at(point: str) -> None:
    """Pass a point; costs a dictionary look-up unless a test has armed it."""
    if not _armed or point not in _armed:
        return
    _armed[point] -= 1
    if _armed[point] <= 0:
        _die()


def _die() -> None:
    if hasattr(signal, "SIGKILL"):
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(137)  # Windows has no such signal; this too cleans nothing up


arm(os.environ.get(VARIABLE, ""))
