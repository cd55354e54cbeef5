"""Links to lessons: on a page's own row, and onward to the next one."""

from typing import Final

import streamlit as st

from core.language import _
from pages.shared import link
from pages.shared.lessons import Lesson, find_lesson, in_language, lesson_after, lessons_of
from pages.shared.navigation import page_row

ROW_KEY: Final = "lessons_row"
NEXT_KEY: Final = "next_lesson"


def query_of(lesson: Lesson) -> dict[str, str]:
    """Return the settings of a lesson's link; what the lesson leaves open goes to its default."""
    return {**link.defaults_of(lesson.page), **lesson.query}


def open_lesson(lesson: Lesson) -> None:
    """Leave this page for a lesson. Ends the run, like `st.switch_page`."""
    st.switch_page(page_row(lesson.page).file, query_params=query_of(lesson))


def lesson_link(lesson: Lesson, label: str = "") -> None:
    """Show a link that opens a lesson."""
    st.page_link(
        page_row(lesson.page).file,
        label=label or in_language(lesson.title),
        query_params=query_of(lesson),
    )


def lessons_row(page: str) -> None:
    """Show the lessons of a page in one row, the one on show marked, then the next one.

    Drawn at the end of the run, when every setting of the page is known. The keys 1 to 9 open them.
    """
    on_show = find_lesson(page, link.values(), link.defaults_of(page))
    with st.container(key=ROW_KEY, horizontal=True, vertical_alignment="center", gap="small"):
        for number, lesson in enumerate(lessons_of(page), start=1):
            mark = "**● {}**" if lesson is on_show else "{}"  # the row scrolls to what is bold
            lesson_link(lesson, mark.format(f"{number} · {in_language(lesson.title)}"))
        following = lesson_after(on_show) if on_show else None
        if following is not None:
            title = in_language(following.title)
            with st.container(key=NEXT_KEY, width="content"):
                lesson_link(following, _("Next: {title} →").format(title=title))
