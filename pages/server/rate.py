"""How often one session may do what costs the server something."""

import time
from collections.abc import Mapping
from typing import Final

import streamlit as st

from core.language import _
from core.units import format_seconds

_KEY: Final = "frame_turns_{action}"
SECONDS: Final = 60.0
# Turns of one session in SECONDS.
LIMITS: Final[Mapping[str, int]] = {"start": 5, "command": 60, "measure": 5, "edit": 30}


class TooOftenError(ValueError):
    """The session must wait before it does this again."""


def take_turn(action: str) -> None:
    """Count one turn of this session.

    Args:
        action: A key of `LIMITS`.

    Raises:
        TooOftenError: If it had as many as it may have; says when the next one is free.
    """
    key, now, limit = _KEY.format(action=action), time.monotonic(), LIMITS[action]
    turns = [each for each in st.session_state.get(key, []) if now - each < SECONDS]
    if len(turns) >= limit:
        raise TooOftenError(
            _("At most {limit} times in {span} from one browser: wait {left}.").format(
                limit=limit,
                span=format_seconds(SECONDS),
                left=format_seconds(max(SECONDS - (now - turns[0]), 1.0)),
            )
        )
    st.session_state[key] = [*turns, now]
