"""Costly work at the push of a button: its progress, its failure as a sentence, its result.

The server has one pool for all of it; the same work is done once for all who wait for it.
"""

from collections.abc import Callable
from typing import Final, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.language import _
from pages.server.background import jobs
from pages.server.rate import take_turn

T = TypeVar("T")
QUICK_FLOPS: Final = 10**9  # 50 ms on a laptop


def run_job(
    name: str,
    work: Callable[[], T],
    *,
    doing: str,
    failed: str,
    done: str = "",
    tell: Callable[[DeltaGenerator], object] = lambda _place: None,
) -> bool:
    """Run costly work in the server's pool and return whether it was done.

    The same name must mean the same work. It has no session of Streamlit and keeps its result where
    every session finds it; `done` is "" where the page runs again anyway. `tell` writes into the
    given place how far the work is, five times a second.
    """
    with st.status(doing, expanded=True) as status:
        place = st.empty()

        def look(waiting: int) -> None:
            if waiting:
                place.write(_("{count} measurements come first …").format(count=waiting))
            else:
                tell(place)

        try:
            take_turn("measure")
            jobs().finish(name, work, look)
        except ValueError as error:
            status.update(label=failed, state="error")
            st.write(str(error))
            return False
        if done:
            status.update(label=done, state="complete", expanded=False)
    return True


def in_turn(name: str, work: Callable[[], T], flops: float, *, doing: str) -> T:
    """Return what the work returns, done in the session's own thread or in the server's pool.

    Quick work is done in the session's own, so that readers who drag do not fill the pool.

    The same name must mean the same work, and `flops` are predicted.

    Raises:
        ValueError: If too much waits for the server.
    """
    if flops < QUICK_FLOPS:
        return work()
    with st.spinner(doing):
        return jobs().finish(name, work)
