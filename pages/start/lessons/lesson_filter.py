"""The three filters of the list of lessons: level, concept, page."""

from typing import Final

import streamlit as st

from core.language import _
from pages.shared import pickers
from pages.shared.concepts import concept_name, concept_number
from pages.shared.lessons import Lesson, load_lessons
from pages.shared.navigation import PAGES, page_row

ALL: Final = "all"


def filtered_lessons(page: str) -> tuple[Lesson, ...]:
    """Show the filters and return the lessons that pass all of them, in teaching order."""
    lessons = load_lessons()
    concepts = sorted({name for lesson in lessons for name in lesson.concepts}, key=concept_number)
    level, concept, place = st.columns(3)
    with level:
        wanted_level = pickers.segmented(
            page, "level", _("Level"), [ALL, "1", "2", "3"], default=ALL, labels=_or_all
        )
    with concept:
        wanted_concept = pickers.selectbox(
            page, "concept", _("Concept"), [ALL, *concepts], default=ALL, labels=_concept
        )
    with place:
        wanted_page = pickers.selectbox(
            page, "page", _("Page"), [ALL, *(row.key for row in PAGES)], default=ALL, labels=_title
        )
    return tuple(
        lesson
        for lesson in lessons
        if wanted_level in (ALL, str(lesson.level))
        and wanted_concept in (ALL, *lesson.concepts)
        and wanted_page in (ALL, lesson.page)
    )


def _or_all(word: str) -> str:
    return _("all") if word == ALL else word


def _title(key: str) -> str:
    return _("all") if key == ALL else _(page_row(key).title)


def _concept(word: str) -> str:
    return _("all") if word == ALL else concept_name(word)
