"""The lessons: one row of lessons.toml each, a link that reproduces one picture; their concepts."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

import streamlit as st

from core.language import _, current_language, ngettext
from pages.shared import link, page_links

LESSONS_FILE: Final = Path(__file__).with_name("lessons.toml")
_CONCEPTS: Final = Path(__file__).with_name("concepts.toml")
CONTROL_KEY: Final = "lesson_control"
LIST_KEY: Final = "lesson_list"
WANTED: Final = "lesson_list_wanted"
NEXT_KEY: Final = "next_lesson"
PREVIOUS_KEY: Final = "previous_lesson"


@dataclass(frozen=True, kw_only=True, slots=True)
class Lesson:
    """A picture worth a link; titles, headlines and questions are by language."""

    slug: str  # its name in addresses and in the reader's ticks
    page: str  # that shows it: "train/live_run"
    title: Mapping[str, str]
    headline: Mapping[str, str]  # a regular expression that the page's headline matches
    level: int  # 1 first steps, 2 the trade, 3 deep
    concepts: Sequence[str] = ()  # that it teaches: "C156"
    query: Mapping[str, str] = field(default_factory=dict)  # as the address writes it
    prerequisites: Sequence[str] = ()  # slugs
    question: Mapping[str, str] = field(default_factory=dict)  # what to predict


def in_language(words: Mapping[str, str]) -> str:
    """Return what `words` says in the reader's language."""
    return words[current_language()]


@cache
def load_lessons() -> tuple[Lesson, ...]:
    """Return all lessons, in teaching order."""
    rows = tomllib.loads(LESSONS_FILE.read_text(encoding="utf-8")).get("lesson", [])
    return tuple(Lesson(**row) for row in rows)


def lessons_of(page: str) -> tuple[Lesson, ...]:
    return tuple(lesson for lesson in load_lessons() if lesson.page == page)


def find_lesson(
    page: str, settings: Mapping[str, str], defaults: Mapping[str, str]
) -> Lesson | None:
    """Return the lesson of this page whose settings are all in force, the most particular first.

    A lesson that sets nothing shows exactly the page's own defaults.
    """
    lessons = sorted(lessons_of(page), key=lambda lesson: -len(lesson.query))
    for lesson in lessons:
        # Of the defaults only what this tab asks for: the reader may have met others before.
        wanted = lesson.query or {name: defaults[name] for name in defaults if name in settings}
        if all(settings.get(name) == value for name, value in wanted.items()):
            return lesson
    return None


def query_of(lesson: Lesson) -> dict[str, str]:
    """Return the settings of a lesson's link; what the lesson leaves open goes to its default."""
    return {**link.defaults_of(lesson.page), **lesson.query}


def open_lesson(lesson: Lesson) -> None:
    page_links.go_to(lesson.page, query_of(lesson))


def lesson_link(lesson: Lesson, label: str = "", *, icon: str | None = None) -> None:
    label = label or in_language(lesson.title)
    page_links.show_link(lesson.page, label, query_of(lesson), icon=icon)


def lesson_control(page: str) -> None:
    """Show which lesson is on show; the list opens from it, arrows lead to its neighbours.

    Of a page without lessons nothing is shown.

    Drawn at the end of the run, when every setting of the page is known.
    """
    lessons = lessons_of(page)
    if not lessons:
        return
    on_show = find_lesson(page, link.values(), link.defaults_of(page))
    with st.container(key=CONTROL_KEY, horizontal=True, vertical_alignment="center", gap=None):
        with (
            st.popover(_told(on_show, lessons), type="tertiary", width="content"),
            st.container(key=LIST_KEY, gap=None),
        ):
            if list_is_wanted():
                _list(lessons, on_show)
            else:
                st.caption(_("One moment …"))
        before, after = _neighbours(on_show) if on_show else (None, lessons[0])
        _arrow(before, PREVIOUS_KEY, _("Previous: {title}"), ":material/chevron_left:")
        _arrow(after, NEXT_KEY, _("Next: {title}"), ":material/chevron_right:")


def list_is_wanted() -> bool:
    """Return whether a list of lessons has been opened in this session."""
    return bool(st.session_state.get(WANTED))


def want_list() -> None:
    """Show the list from now on: until it is opened, a slider that moves does not wait for it."""
    st.session_state[WANTED] = True


def _list(lessons: Sequence[Lesson], on_show: Lesson | None) -> None:
    for number, lesson in enumerate(lessons, start=1):
        mark = "**● {}**" if lesson is on_show else "{}"
        lesson_link(lesson, mark.format(f"{number} · {in_language(lesson.title)}"))


def _arrow(lesson: Lesson | None, key: str, label: str, icon: str) -> None:
    """Show the way to a lesson as an arrow; the style of the frame leaves its words to the ear."""
    if lesson is not None:
        with st.container(key=key, width="content"):
            lesson_link(lesson, label.format(title=in_language(lesson.title)), icon=icon)


def _told(on_show: Lesson | None, lessons: Sequence[Lesson]) -> str:
    if on_show is None:
        count = len(lessons)
        return ngettext("{count} lesson", "{count} lessons", count).format(count=count)
    return _("Lesson {number} of {count} · {title}").format(
        number=lessons.index(on_show) + 1, count=len(lessons), title=in_language(on_show.title)
    )


def _neighbours(lesson: Lesson) -> tuple[Lesson | None, Lesson | None]:
    """Return the lessons before and after one, in teaching order."""
    padded = (None, *load_lessons(), None)
    place = padded.index(lesson)
    return padded[place - 1], padded[place + 1]


@cache
def load_concepts() -> Mapping[str, Mapping[str, str]]:
    """Return id -> language -> name."""
    concepts: dict[str, dict[str, str]] = tomllib.loads(_CONCEPTS.read_text(encoding="utf-8"))
    return concepts


def concept_name(concept: str) -> str:
    """Return what a concept is called in the reader's language, its id when it has no name."""
    names = load_concepts().get(concept)
    return in_language(names) if names else concept


def concept_number(concept: str) -> int:
    """Return what concepts are ordered by.

    >>> sorted(["C68", "C9", "C137"], key=concept_number)
    ['C9', 'C68', 'C137']
    """
    return int(concept.removeprefix("C"))
