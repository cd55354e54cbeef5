"""How often one browser, and one address, may do what costs the server something."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

import streamlit as st

from core.language import _
from core.units import format_seconds
from pages.server.browser import browser
from pages.server.control_right import counted_as

SECONDS: Final = 60.0
# Turns of one browser in SECONDS.
LIMITS: Final[Mapping[str, int]] = {
    "start": 5,
    "command": 60,
    "measure": 5,
    "edit": 30,
    "snapshot": 10,  # five files: a browser asks, then sends
}
BROWSERS_OF_ADDRESS: Final = 10  # as many browsers' turns has an address: a class may share one


class TooOftenError(ValueError):
    """The browser must wait before it does this again."""


class Turns:
    """When each browser did what, in the last minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._taken: dict[tuple[str, str], list[float]] = {}

    def take(self, who: str, action: str, address: str = "") -> None:
        """Count one turn of that browser, and of its address if one is given.

        Raises:
            TooOftenError: If either had as many as it may have; says when the next one is free.
        """
        browser, place = (who, action), (f"address {address}", action)
        with self._lock:
            now, limit = self._clock(), LIMITS[action]
            self._forget(now)
            sentence = _("At most {limit} times in {span} from one browser: wait {left}.")
            self._refuse_if_spent(browser, limit, sentence)
            if address:
                sentence = _("At most {limit} times in {span} from one address: wait {left}.")
                self._refuse_if_spent(place, BROWSERS_OF_ADDRESS * limit, sentence)
            for each in (browser, place) if address else (browser,):
                self._taken.setdefault(each, []).append(now)

    def _refuse_if_spent(self, key: tuple[str, str], limit: int, sentence: str) -> None:
        turns = self._taken.get(key, [])
        if len(turns) >= limit:
            left = format_seconds(max(SECONDS - (self._clock() - turns[0]), 1.0))
            span = format_seconds(SECONDS)
            raise TooOftenError(sentence.format(limit=limit, span=span, left=left))

    def _forget(self, now: float) -> None:
        recent = {
            key: [each for each in turns if now - each < SECONDS]
            for key, turns in self._taken.items()
        }
        self._taken = {key: turns for key, turns in recent.items() if turns}


@st.cache_resource(show_spinner=False)
def turns() -> Turns:
    return Turns()


def take_turn(action: str) -> None:
    """Count one turn of the browser that looks, in all its sessions, and of its address.

    Raises:
        TooOftenError: If it had as many as it may have; says when the next one is free.
    """
    turns().take(browser(), action, counted_as())
