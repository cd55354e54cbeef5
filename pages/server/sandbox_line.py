"""The line of students' own runs on this server, and this browser's place in it."""

import os
from typing import Final

import streamlit as st

from core.train.config import TrainConfig
from core.train.start.sandbox import WISH_SECONDS, Owners, SandboxQueue, Ticket
from pages.server.browser import browser, is_here
from pages.server.classroom import classroom
from pages.server.control_right import (
    ControlRefusedError,
    counted_as,
    owns,
    run_owners,
    who_controls,
)
from pages.server.rate import take_turn

PATIENCE_VARIABLE: Final = "B2G_WISH_SECONDS"


@st.cache_resource(show_spinner=False)
def sandbox_queue() -> SandboxQueue:
    """Return the server's line; a run that it starts belongs to the browser that wished it."""
    owner_of_run = run_owners()

    def note(ticket: Ticket) -> None:
        owner_of_run[ticket.run] = ticket.owner

    patience = float(os.environ.get(PATIENCE_VARIABLE) or WISH_SECONDS)
    return SandboxQueue(owners=Owners(is_here=is_here, on_start=note, patience=patience))


def make_way() -> None:
    sandbox_queue().make_way()


def note_stop(run: str) -> None:
    """Note who was stopped by the class: the owner of that run, unless it was the owner's own."""
    if not owns(run):
        sandbox_queue().note_stop(run)


def ticket() -> Ticket | None:
    """Return this browser's newest wish; None if it has none."""
    return sandbox_queue().newest_of(browser())


def line_up(config: TrainConfig) -> None:
    """Put this browser's run into the line, in place of an earlier wish.

    Raises:
        ControlRefusedError: If the teacher has not allowed runs of one's own.
        ValueError: If the line or the config forbid it, or this browser asks too often.
    """
    if not classroom().sandbox_allowed:
        raise ControlRefusedError(who_controls())
    take_turn("start")
    sandbox_queue().enter(config, browser(), counted_as())


def leave_line() -> None:
    """Give up this browser's wish; a run that has started goes on."""
    if held := ticket():
        sandbox_queue().leave(held)


def place(held: Ticket) -> int:
    """Return the ticket's place: 1 is next; 0 when it waits no more."""
    return sandbox_queue().place(held)


def trains(held: Ticket) -> bool:
    """Say whether the ticket's run trains now."""
    return sandbox_queue().trains(held)
