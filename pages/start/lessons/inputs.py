"""What the list of lessons asks for: a level, a concept, a page."""

from typing import Final

from core.language import _
from pages.shared.inputs import Inputs
from pages.shared.lessons import Lesson, concept_name, concept_number, load_lessons
from pages.shared.navigation import PAGES, page_row

ASK: Final = Inputs("lessons")
ALL: Final = "all"


def choose_lessons() -> tuple[Lesson, ...]:
    """Show the filters and return the lessons that pass all of them, in teaching order."""
    lessons = load_lessons()
    concepts = sorted({name for lesson in lessons for name in lesson.concepts}, key=concept_number)
    level = ASK.segmented(
        "level",
        _("Level"),
        [ALL, "1", "2", "3"],
        default=ALL,
        labels=lambda word: _("all") if word == ALL else word,
    )
    concept = ASK.selectbox(
        "concept",
        _("Concept"),
        [ALL, *concepts],
        default=ALL,
        labels=lambda name: _("all") if name == ALL else concept_name(name),
    )
    page = ASK.selectbox(
        "page",
        _("Page"),
        [ALL, *(row.key for row in PAGES)],
        default=ALL,
        labels=lambda key: _("all") if key == ALL else _(page_row(key).title),
    )
    return tuple(
        lesson
        for lesson in lessons
        if level in (ALL, str(lesson.level))
        and concept in (ALL, *lesson.concepts)
        and page in (ALL, lesson.page)
    )
