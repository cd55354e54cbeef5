"""Two lists with ticks: the lessons that pass the filters, and eight things to be able to do."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import streamlit as st

from core.language import _, ngettext
from pages.components.ticks.ticks import TickGroup, TickRow
from pages.shared.lessons import Lesson, in_language
from pages.shared.settings import presenting
from pages.shared.start.course_map import address, find, show_lessons, show_ticks
from pages.shared.tabbed_page import Shown
from pages.start.lessons.inputs import ALL, ASK

_FILE: Final = Path(__file__).with_name("self_check.toml")
LIST_CODE: Final = """
import tomllib

level, concept, page = {level!r}, {concept!r}, {page!r}
with open("pages/shared/lessons.toml", "rb") as file:
    lessons = tomllib.load(file)["lesson"]
found = [
    each
    for each in lessons
    if level in ("{all}", str(each["level"]))
    and concept in ("{all}", *each["concepts"])
    and page in ("{all}", each["page"])
]
print(len(found), "lessons on", len({{each["page"] for each in found}}), "pages")
"""
CHECK_CODE: Final = """
import tomllib

with open("pages/start/lessons/self_check.toml", "rb") as file:
    print(len(tomllib.load(file)["item"]))
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckItem:
    """One thing to be able to do: its text in both languages, the lesson that shows it."""

    slug: str
    lesson: str
    concepts: tuple[str, ...]
    text: Mapping[str, str]


@cache
def load_self_check() -> tuple[CheckItem, ...]:
    """Return the items in the order of the file."""
    rows = tomllib.loads(_FILE.read_text(encoding="utf-8"))["item"]
    return tuple(CheckItem(**{**row, "concepts": tuple(row["concepts"])}) for row in rows)


def lesson_list(found: Sequence[Lesson]) -> Shown:
    """Show the lessons that pass the filters, with ticks; all of them as a map of the course."""
    chosen = {name: ASK.used(name, ALL) for name in ("level", "concept", "page")}
    is_filtered = set(chosen.values()) != {ALL}
    if found:
        show_lessons(found, key="lessons_list", detailed=is_filtered and not presenting())
    else:
        st.caption(_("No lesson passes all three filters; set one of them back to “all”."))
    return Shown(headline=_list_sentence(found), code=LIST_CODE.format(all=ALL, **chosen))


def _list_sentence(found: Sequence[Lesson]) -> str:
    """Return how many lessons passed, on how many pages, and what the ticks are for."""
    count, num_pages = len(found), len({each.page for each in found})
    lessons = ngettext("{count} lesson", "{count} lessons", count).format(count=count)
    if not found:
        return lessons
    pages = ngettext("{count} page", "{count} pages", num_pages).format(count=num_pages)
    said = _("{lessons} on {pages}: tick what you can do already")
    return said.format(lessons=lessons, pages=pages)


def self_check() -> Shown:
    """Show the eight things to be able to do, each leading to its lesson."""
    rows = [
        TickRow(
            slug=item.slug,
            title=in_language(item.text),
            opens=item.lesson,
            address=address(find(item.lesson)),
            detail=_("Lesson: {title}").format(title=in_language(find(item.lesson).title)),
        )
        for item in load_self_check()
    ]
    show_ticks([TickGroup(title="", rows=tuple(rows))], key="lessons_check", suggest=False)
    said = _("{count} things to be able to do").format(count=len(rows))
    return Shown(headline=said, code=CHECK_CODE)
