"""How often one browser may do what costs the server something."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

import streamlit as st

from core.language import _
from core.units import format_seconds
from pages.server.browser import browser

SECONDS: Final = 60.0
# Turns of one browser in SECONDS.
LIMITS: Final[Mapping[str, int]] = {"start": 5, "command": 60, "measure": 5, "edit": 30}


class TooOftenError(ValueError):
    """The browser must wait before it does this again."""


class Turns:
    """When each browser did what, in the last minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._taken: dict[tuple[str, str], list[float]] = {}

    def take(self, who: str, action: str) -> None:
        """Count one turn of that browser.

        Raises:
            TooOftenError: If it had as many as it may have; says when the next one is free.
        """
        with self._lock:
            now, limit = self._clock(), LIMITS[action]
            self._forget(now)
            turns = self._taken.setdefault((who, action), [])
            if len(turns) >= limit:
                raise TooOftenError(
                    _("At most {limit} times in {span} from one browser: wait {left}.").format(
                        limit=limit,
                        span=format_seconds(SECONDS),
                        left=format_seconds(max(SECONDS - (now - turns[0]), 1.0)),
                    )
                )
            turns.append(now)

    def _forget(self, now: float) -> None:
        recent = {
            key: [each for each in turns if now - each < SECONDS]
            for key, turns in self._taken.items()
        }
        self._taken = {key: turns for key, turns in recent.items() if turns}


@st.cache_resource(show_spinner=False)
def turns() -> Turns:
    """Return the turns taken on this server."""
    return Turns()


def take_turn(action: str) -> None:
    """Count one turn of the browser that looks, in all its sessions.

    Args:
        action: A key of `LIMITS`.

    Raises:
        TooOftenError: If it had as many as it may have; says when the next one is free.
    """
    turns().take(browser(), action)
