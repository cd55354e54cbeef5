"""Costly work at the push of a button: its progress, its failure as a sentence, its result.

The server has one pool for all of it; the same work is done once for all who wait for it.
"""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.language import _
from pages.server.background import jobs
from pages.server.rate import take_turn

T = TypeVar("T")


def run_job(
    name: str,
    work: Callable[[], T],
    *,
    doing: str,
    failed: str,
    done: str = "",
    tell: Callable[[DeltaGenerator], None] = lambda _place: None,
) -> bool:
    """Run costly work in the server's pool and return whether it was done.

    Args:
        name: The same name must mean the same work.
        work: Called in a thread of the pool, without a session of Streamlit; it keeps its result
            where every session finds it.
        doing: Translated; stands above the progress.
        failed: Stands there if the work fails, above the sentence why.
        done: Stands there once it is done; "" where the page runs again anyway.
        tell: Writes into the given place how far the work is, five times a second.
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
