"""Eight things to be able to do at the end, each with the lesson that shows it."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from core.language import _
from pages.components.ticks.ticks import TickGroup, TickRow
from pages.shared.lessons import in_language
from pages.shared.start.course_map import address, find

_FILE: Final = Path(__file__).with_name("self_check.toml")


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


def check_group() -> TickGroup:
    """Return the items as rows with ticks, each leading to its lesson."""
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
    return TickGroup(title="", rows=tuple(rows))
