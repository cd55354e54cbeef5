"""How many open pages this process can carry: a page takes a few file descriptors."""

import sys
from contextlib import suppress
from functools import cache
from typing import Final

from core.language import _

MAX_SESSIONS: Final = 300  # pages that are open at once; a class has thirty readers
ENOUGH: Final = 10_240  # more than any bound of this server needs, and the most that macOS grants
_OWN: Final = 64  # libraries, logs, runs that are read, workers that are started; 36 when idle
_PER_SESSION: Final = 3  # its websocket, its live stream, and a request under way


@cache
def num_descriptors() -> int:
    """Return how many descriptors this process may open, after asking for as many as it may have.

    Windows has no such limit.
    """
    if sys.platform == "win32":
        return ENOUGH
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    wanted = ENOUGH if hard == unlimited else min(hard, ENOUGH)
    if soft != unlimited and soft < wanted:
        with suppress(ValueError, OSError):  # a system may allow less than its hard limit says
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return ENOUGH if soft == unlimited else soft


def num_connections() -> int:
    return max(num_descriptors() - _OWN, _PER_SESSION)


def carried(most: int = MAX_SESSIONS) -> int:
    """Return how many open pages are carried at once: `most`, or what the descriptors allow."""
    return min(most, num_connections() // _PER_SESSION)


def shortage() -> str:
    """Return the sentence for the terminal where fewer pages are carried, else ""."""
    if carried() == MAX_SESSIONS:
        return ""
    return _(
        "This process may open only {files} files: enough for {count} open pages, not {most}. "
        "Run `ulimit -n {wanted}` before you start it to allow all of them."
    ).format(
        files=num_descriptors(),
        count=carried(),
        most=MAX_SESSIONS,
        wanted=_OWN + MAX_SESSIONS * _PER_SESSION,
    )
