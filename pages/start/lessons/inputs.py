"""What Lessons asks for: a path or filters, whether to print the card, and the card's numbers."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from core.language import _
from pages.shared.inputs import Inputs
from pages.shared.lessons import Lesson, concept_name, concept_number, in_language, load_lessons
from pages.shared.navigation import PAGES, page_row
from pages.shared.start.course_map import find

ASK: Final = Inputs("lessons")
ALL: Final = "all"
CHECK: Final = "check"
_PATHS: Final = Path(__file__).with_name("paths.toml")
_POWERS: Final = {"k": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}


def _amounts(words: str) -> Mapping[str, int]:
    """Return numbers by what people call them: "1.5B" is 1,500,000,000."""
    return {word: round(float(word[:-1]) * _POWERS[word[-1]]) for word in words.split()}


PARAMS: Final = _amounts("110k 1M 10M 124M 350M 1B 1.5B 3B 7B 13B 34B 70B 175B 405B 671B 1T")
TOKENS: Final = _amounts("1M 10M 100M 1B 10B 100B 300B 1T 2T 5T 15T 30T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Course:
    """What the reader wants to see: the card, the self-check, or lessons."""

    path: str = ALL  # of `load_paths`, "check", or "all"
    lessons: Sequence[Lesson] = ()  # those of the path that pass all filters
    # Parameters and tokens of the card to print, as people say them; None for a list
    card: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class CoursePath:
    """A way through the course: its title in both languages, its lessons in order."""

    title: Mapping[str, str]
    lessons: Sequence[str]


@cache
def load_paths() -> Mapping[str, CoursePath]:
    rows = tomllib.loads(_PATHS.read_text(encoding="utf-8"))
    return {key: CoursePath(**row) for key, row in rows.items()}


def choose_course() -> Course:
    paths = load_paths()
    words = {ALL: _("all"), CHECK: _("Self-check")}
    path = ASK.segmented(
        "path",
        _("Path"),
        [ALL, *paths, CHECK],
        default=ALL,
        labels=lambda key: words.get(key) or in_language(paths[key].title),
    )
    if ASK.toggle("print", _("Print the take-away card"), default=False):
        params = ASK.select_slider("params", _("Parameters N"), list(PARAMS), default="7B")
        tokens = ASK.select_slider("tokens", _("Tokens D"), list(TOKENS), default="1T")
        return Course(card=(params, tokens))
    if path == CHECK:
        return Course(path=path)
    lessons = load_lessons() if path == ALL else [find(slug) for slug in paths[path].lessons]
    return Course(path=path, lessons=_filtered(lessons))


def _filtered(lessons: Sequence[Lesson]) -> Sequence[Lesson]:
    concepts = sorted(
        {name for each in load_lessons() for name in each.concepts}, key=concept_number
    )
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
    return [
        lesson
        for lesson in lessons
        if level in (ALL, str(lesson.level))
        and concept in (ALL, *lesson.concepts)
        and page in (ALL, lesson.page)
    ]
