"""The lessons of a path or of all pages, eight things to be able to do, the card to print."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import streamlit as st

from core.language import N_, _, ngettext
from pages.components.ticks.ticks import TickGroup, TickRow
from pages.shared.lessons import Lesson, in_language
from pages.shared.settings import presenting
from pages.shared.start.course_map import address, find, lesson_row, show_lessons, show_ticks
from pages.shared.tabbed_page import Shown, Tab
from pages.start.lessons.inputs import ALL, ASK, CHECK, Course, choose_course, load_paths
from pages.start.lessons.take_away import take_away

_FILE: Final = Path(__file__).with_name("self_check.toml")
_LIST_CODE: Final = """
import tomllib

path, level, concept, page = {path!r}, {level!r}, {concept!r}, {page!r}
with open("pages/shared/lessons.toml", "rb") as file:
    lessons = tomllib.load(file)["lesson"]
with open("pages/start/lessons/paths.toml", "rb") as file:
    paths = tomllib.load(file)
found = [
    each
    for each in lessons
    if path == "{all}" or each["slug"] in paths[path]["lessons"]
    if level in ("{all}", str(each["level"]))
    and concept in ("{all}", *each.get("concepts", ()))
    and page in ("{all}", each["page"])
]
print(len(found), "lessons on", len({{each["page"] for each in found}}), "pages")
"""
_CHECK_CODE: Final = """
import tomllib

with open("pages/start/lessons/self_check.toml", "rb") as file:
    print(len(tomllib.load(file)["item"]))
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckItem:
    """One thing to be able to do: its text in both languages, the lesson that shows it."""

    slug: str
    lesson: str
    text: Mapping[str, str]


@cache
def load_self_check() -> tuple[CheckItem, ...]:
    rows = tomllib.loads(_FILE.read_text(encoding="utf-8"))["item"]
    return tuple(CheckItem(**row) for row in rows)


def lessons(course: Course) -> Shown:
    """Show the card, the self-check, the lessons of a path, or all as a map of the course."""
    if course.card:
        return take_away(course.card)
    if course.path == CHECK:
        return _self_check()
    found = course.lessons
    chosen = {name: ASK.used(name, ALL) for name in ("path", "level", "concept", "page")}
    detailed = {*chosen.values()} != {ALL} and not presenting()
    if not found:
        st.caption(_("No lesson passes all filters; set one of them back to “all”."))
    elif course.path == ALL:
        show_lessons(found, key="lessons_list", detailed=detailed)
    else:
        rows = tuple(lesson_row(each, detailed=detailed) for each in found)
        group = TickGroup(title=in_language(load_paths()[course.path].title), rows=rows)
        show_ticks([group], key="lessons_list")
    return Shown(headline=_list_sentence(found), code=_LIST_CODE.format(all=ALL, **chosen))


def _list_sentence(found: Sequence[Lesson]) -> str:
    count, num_pages = len(found), len({each.page for each in found})
    lessons = ngettext("{count} lesson", "{count} lessons", count).format(count=count)
    if not found:
        return lessons
    pages = ngettext("{count} page", "{count} pages", num_pages).format(count=num_pages)
    said = _("{lessons} on {pages}: tick what you can do already")
    return said.format(lessons=lessons, pages=pages)


def _self_check() -> Shown:
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
    return Shown(headline=said, code=_CHECK_CODE)


TAB: Final = Tab(label=N_("Lessons"), show=lessons, choose=choose_course)
