"""The line at the top of every page: title, question, lessons, "copy link" and the keys."""

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
from pages.shared.lessons import lesson_control, list_is_wanted, want_list
from pages.shared.navigation import page_row
from pages.shared.settings import presenting

_SLOTS: Final = "frame_header"


@dataclass(frozen=True, slots=True)
class _Slots:
    """The page's question, and places in the header that are filled later in the run."""

    question: str  # that the page answers, in the reader's language
    tabs: DeltaGenerator  # for the tabs on a projector, where a line of their own is one too many
    lessons: DeltaGenerator  # filled when all settings of the page are known, as the tools are
    tools: DeltaGenerator  # "Copy link" and the keys


def begin_run() -> None:
    st.session_state[_SLOTS] = None


def page_header(doc: str | None, title: str = "") -> None:
    """Show the title of the page and its question, and keep places for lessons and tools.

    The question is the first line of `doc`; `title` is given if it is not the one of the menu.
    """
    asked = (doc or "").strip().partition("\n")[0]
    question = _(asked) if asked else ""
    with st.container(key="page_header", horizontal=True, vertical_alignment="center"):
        with st.container(key="page_title", horizontal=True, gap=None):
            name = title or _(page_row(link.current_page()).title)
            st.title(name, anchor=False, width="content")
            st.caption(question, width="content")
        slots = [
            st.container(key=key, horizontal=True, width="content", vertical_alignment="center")
            for key in ("page_tabs_small", "page_lessons", "page_tools")
        ]
    st.session_state[_SLOTS] = _Slots(question, *slots)


def tabs_place() -> DeltaGenerator:
    """Return the place for the tabs: a line of their own or, on a projector, in the header."""
    if presenting() and (slots := _slots()):
        return slots.tabs
    return st.container(key="page_tabs", horizontal=True, vertical_alignment="center", gap="small")


def question_of_page() -> str:
    """Return the question under the title; "" before the header stands."""
    return slots.question if (slots := _slots()) else ""


def end_run() -> None:
    slots = _slots()
    if slots is None:
        return
    with slots.lessons:
        lesson_control(link.current_page())
    with slots.tools:
        reachable = class_address() if in_class() else ""
        copy_link(link.parameters(), link.refusals(), reachable=reachable, on_copied=remember_link)
        key_map(has_list=list_is_wanted(), on_list_wanted=want_list)


def _slots() -> _Slots | None:
    return cast("_Slots | None", st.session_state.get(_SLOTS))
