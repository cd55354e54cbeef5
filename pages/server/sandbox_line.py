"""The line of students' own runs on this server, and this session's place in it."""

from typing import Final

import streamlit as st

from core.train.config import TrainConfig
from core.train.start.sandbox import SandboxQueue, Ticket
from pages.server.classroom import classroom
from pages.server.control_right import ControlRefusedError, own, peer, who_controls
from pages.server.rate import take_turn

_TICKET: Final = "frame_sandbox_ticket"


@st.cache_resource(show_spinner=False)
def sandbox_queue() -> SandboxQueue:
    """Return the server's line."""
    return SandboxQueue()


def make_way() -> None:
    """Let the class's run go first."""
    sandbox_queue().make_way()


def ticket() -> Ticket | None:
    """Return this session's wish; None if it has none. A run that has started becomes its own."""
    held = st.session_state.get(_TICKET)
    if not isinstance(held, Ticket):
        return None
    if held.run:
        own(held.run)
    return held


def line_up(config: TrainConfig) -> None:
    """Put this session's run into the line, in place of an earlier wish.

    Raises:
        ControlRefusedError: If the teacher has not allowed runs of one's own.
        ValueError: If the line or the config forbid it, or this session asks too often.
    """
    if not classroom().sandbox_allowed:
        raise ControlRefusedError(who_controls())
    take_turn("start")
    leave_line()
    st.session_state[_TICKET] = sandbox_queue().enter(config, peer().address)


def leave_line() -> None:
    """Give up this session's wish; a run that has started goes on."""
    held = st.session_state.pop(_TICKET, None)
    if isinstance(held, Ticket):
        sandbox_queue().leave(held)


def place(held: Ticket) -> int:
    """Return the ticket's place: 1 is next; 0 when it waits no more."""
    return sandbox_queue().place(held)
