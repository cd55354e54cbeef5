"""The top of every page: title, question, lessons, "copy link" and the keys."""

from dataclasses import dataclass
from typing import Final, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.language import _
from pages.components.copy_link.copy_link import copy_link
from pages.components.key_map.key_map import key_map
from pages.server.classroom import class_address, in_class
from pages.server.join import remember_link
from pages.shared import link
from pages.shared.lessons import lessons_row
from pages.shared.navigation import page_row

_SLOTS: Final = "frame_header"


@dataclass(frozen=True, slots=True)
class _Slots:
    """Places that are filled when the page has run and all its settings are known."""

    tools: DeltaGenerator
    lessons: DeltaGenerator


def begin_run() -> None:
    """Forget the header of the last run."""
    st.session_state[_SLOTS] = None


def page_header(doc: str | None, title: str = "") -> None:
    """Show the title of the page and its question, and keep places for lessons and tools.

    Args:
        doc: The page's `__doc__`; its first line is the question.
        title: Translated title, if it is not the one of the menu.
    """
    question = (doc or "").strip().partition("\n")[0]
    with st.container(key="page_header", horizontal=True, vertical_alignment="bottom"):
        with st.container(key="page_title", horizontal=True, gap=None):
            name = title or _(page_row(link.current_page()).title)
            st.title(name, anchor=False, width="content")
            st.caption(_(question) if question else "", width="content")
        tools = st.container(
            key="page_tools", horizontal=True, width="content", vertical_alignment="center"
        )
    st.session_state[_SLOTS] = _Slots(tools, st.container(key="page_lessons", gap=None))


def end_run() -> None:
    """Fill the places of the header."""
    slots = cast("_Slots | None", st.session_state.get(_SLOTS))
    if slots is None:
        return
    with slots.lessons:
        lessons_row(link.current_page())
    with slots.tools:
        reachable = class_address() if in_class() else ""
        copy_link(link.parameters(), link.refusals(), reachable=reachable, on_copied=remember_link)
        key_map()
