"""The course as a list with ticks: groups of lessons, each title a link."""

from collections.abc import Sequence
from typing import Final

import streamlit as st

from core.language import _
from pages.components.ticks.ticks import Layout, TickGroup, TickRow, ticks
from pages.shared import link, page_links
from pages.shared.lessons import (
    Lesson,
    concept_name,
    in_language,
    load_lessons,
    open_lesson,
    query_of,
)
from pages.shared.navigation import PAGES

_WANTED: Final = "course_map_wanted"


def show_lessons(lessons: Sequence[Lesson], *, key: str, detailed: bool) -> None:
    """Show lessons under the pages they belong to, with ticks and the one to do next.

    `detailed` shows all pages side by side, with level and concepts under each title; else it is a
    map with one page open.
    """
    groups = [
        TickGroup(
            title=_(page.title),
            rows=tuple(
                lesson_row(each, detailed=detailed) for each in lessons if each.page == page.key
            ),
        )
        for page in PAGES
    ]
    shown = [group for group in groups if group.rows]
    show_ticks(shown, key=key, layout="across" if detailed else "folded")


def show_ticks(
    groups: Sequence[TickGroup], *, key: str, layout: Layout = "list", suggest: bool = True
) -> None:
    """Show rows with ticks; a click on a title opens the lesson of that slug."""
    wanted = st.session_state.pop(_WANTED, "")
    if wanted:
        open_lesson(find(wanted))
    words = {"next": _("Next:"), "done": _("Done: {title}")}
    ticks(groups, key=key, words=words, on_open=_open, layout=layout, suggest=suggest)


def _open(slug: str) -> None:
    """Take the way to a lesson, before the page runs again.

    On the page that is shown, the lesson's settings are written where its inputs keep them:
    Streamlit refuses to switch to the same page with parameters that inputs are bound to. An input
    that is hidden, or of another tab, reads its word in the address. A lesson is a link, and a link
    may be followed from a locked page too.
    """
    lesson = find(slug)
    if lesson.page != link.current_page():
        st.session_state[_WANTED] = slug
        page_links.choose(lesson.query)
        return
    inputs = {each.name: each for each in link.parameters()}
    defaults = link.defaults_of(lesson.page)
    for name, value in query_of(lesson).items():
        held = inputs.get(name)
        if held.visible if held else value == defaults.get(name):
            is_switch = isinstance(st.session_state.get(name), bool)
            st.session_state[name] = value == "true" if is_switch else value
        else:
            link.settle(name, value)
            st.query_params[name] = value  # tells the browser, as `settle` does not


def find(slug: str) -> Lesson:
    """Return the lesson of that slug."""
    return {lesson.slug: lesson for lesson in load_lessons()}[slug]


def address(lesson: Lesson) -> str:
    """Return the link of a lesson, relative to the server."""
    return page_links.address(lesson.page, lesson.query)


def lesson_row(lesson: Lesson, *, detailed: bool) -> TickRow:
    """Return a lesson as a row with a tick; `detailed` with its level and concepts."""
    names = [concept_name(concept) for concept in lesson.concepts]
    detail = [_("level {level}").format(level=lesson.level), *names]
    return TickRow(
        slug=lesson.slug,
        title=in_language(lesson.title),
        opens=lesson.slug,
        address=address(lesson),
        detail=" · ".join(detail) if detailed else "",
        needs=lesson.prerequisites,
    )
