"""One box that searches lessons, the questions of the pages, and error texts of torch."""

import ast
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Final

import streamlit as st

from core.language import _
from pages.shared import page_links
from pages.shared.inputs import Inputs
from pages.shared.lessons import Lesson, in_language, lesson_link, load_concepts, load_lessons
from pages.shared.navigation import PAGES, PageRow, page_row
from pages.shared.start.course_map import find
from pages.shared.start.torch_errors import (
    TorchError,
    error_of,
    explain_error,
    find_error,
    load_torch_errors,
)

MAX_QUERY: Final = 600
MAX_HITS: Final = 3
THRESHOLD: Final = 0.5  # share of the lighter side's weight that both must have in common
SHORTEST_PREFIX: Final = 3
LONGEST_QUESTION: Final = 60  # characters: what is longer was pasted and says itself what it is
_ERRORS_PAGE: Final = "start/machine"
_SYNONYMS: Final = Path(__file__).with_name("synonyms.toml")
_WORD: Final = re.compile(r"(?<![a-z_0-9])[a-z_][a-z_0-9]*|[\u3400-\u9fff]+")
_CHINESE: Final = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One thing to find: `kind` and `target` say what it is and which one."""

    kind: str  # "lesson" | "page" | "error"
    target: str
    text: str

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the text, without numbers: sizes differ from error to error."""
        return frozenset(split_words(self.text))


def search_box(ask: Inputs) -> tuple[Entry, ...]:
    """Show the box and return what was found, best first; nothing asked, nothing found."""
    query = ask.text(
        "search",
        _("Search lessons and PyTorch errors"),
        max_chars=MAX_QUERY,
        help=_(
            "A term of the field, or an error text of PyTorch, whole or in part; the numbers in it "
            "may differ."
        ),
    )
    hits = find_all(query) if query.strip() else ()
    if query.strip() and not hits:
        st.caption(
            _("Nothing found for these words. Try the words of an error text, or fewer words.")
        )
    return hits


def show_hits(hits: Sequence[Entry]) -> None:
    """Show the best hit, of an error with its reason and remedy, and the others as links."""
    for place, hit in enumerate(hits):
        if hit.kind == "error":
            _show_error(find_error(hit.target), is_best=place == 0)
        elif hit.kind == "lesson":
            lesson = find(hit.target)
            label = f"{in_language(lesson.title)} · {_(page_row(lesson.page).title)}"
            lesson_link(lesson, label, icon=":material/school:")
        else:
            row = page_row(hit.target)
            page_links.show_link(
                row.key, f"{_(row.title)}: {_(question(row))}", {}, icon=":material/article:"
            )


def _show_error(error: TorchError, *, is_best: bool) -> None:
    here = {"machine_tab": "errors", "machine_error": error.slug}
    if not is_best:
        page_links.show_link(_ERRORS_PAGE, f"`{error.line}`", here, icon=":material/error:")
        return
    with st.container(border=True):
        explain_error(error)
        label = _("Code that raises it, and other errors")
        page_links.show_link(_ERRORS_PAGE, label, here, icon=":material/error:")


def headline_of(hit: Entry) -> str:
    """Return a hit in one line."""
    if hit.kind == "error":
        return f"`{find_error(hit.target).line}`"
    if hit.kind == "lesson":
        return in_language(find(hit.target).title)
    return _(page_row(hit.target).title)


@cache
def all_entries() -> tuple[Entry, ...]:
    """Return everything that can be found, in both languages."""
    errors = (
        Entry(
            kind="error",
            target=error.slug,
            text=" ".join([error.text, error.words, *error.why.values()]),
        )
        for error in load_torch_errors()
    )
    lessons = (
        Entry(
            kind="lesson",
            target=lesson.slug,
            text=" ".join([*lesson.title.values(), *_concept_words(lesson)]),
        )
        for lesson in load_lessons()
    )
    pages = (
        Entry(kind="page", target=row.key, text=f"{row.title} {question(row)}") for row in PAGES
    )
    return (*errors, *lessons, *pages)


@cache
def question(row: PageRow) -> str:
    """Return the question of a page: the first line of its docstring."""
    docstring = ast.get_docstring(ast.parse(row.file.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0]


def _concept_words(lesson: Lesson) -> Iterator[str]:
    for concept in lesson.concepts:
        yield from (concept, *load_concepts().get(concept, {}).values())


def find_all(query: str) -> tuple[Entry, ...]:
    """Return the error it quotes, what it means in our words, then what shares its own words."""
    entries = {entry.target: entry for entry in all_entries()}
    quoted = error_of(query)
    targets = [*([quoted.slug] if quoted else []), *targets_of(query)]
    meant = (entries[target] for target in targets)
    found = search(query, all_entries(), MAX_HITS)
    return tuple(dict.fromkeys((*meant, *found)))[:MAX_HITS]


def targets_of(query: str) -> tuple[str, ...]:
    """Return the lessons, errors and pages that the longest term of the field in a query means.

    >>> targets_of("what is gradient checkpointing?")[0]
    'training-full-checkpointing'
    """
    text = " ".join(query.lower().split())
    if len(text) > LONGEST_QUESTION:
        return ()
    said = [term for term in load_synonyms() if _says(text, term)]
    return load_synonyms()[max(said, key=len)] if said else ()


def _says(text: str, term: str) -> bool:
    """Return whether a text holds a term; one in Latin letters as words of their own."""
    if not term.isascii():
        return term in text
    return re.search(rf"(?<![a-z0-9]){re.escape(term)}(?![a-z0-9])", text) is not None


@cache
def load_synonyms() -> Mapping[str, tuple[str, ...]]:
    """Return what other words of the field mean here: term -> what to find."""
    rows = tomllib.loads(_SYNONYMS.read_text(encoding="utf-8"))["term"]
    return {term: tuple(row["finds"]) for row in rows for term in row["asked"]}


def search(query: str, entries: Sequence[Entry], limit: int = 5) -> tuple[Entry, ...]:
    """Return the entries that share most of their words with the query, best first.

    A rare word weighs more than a common one (inverse document frequency, Sparck Jones 1972), and
    the longer of the two texts may hold much else: a pasted traceback, a long explanation. A word
    may be half typed. A single letter finds nothing: the a of "tensor a" is no subject.
    """
    asked = frozenset(word for word in split_words(query) if len(word) > 1 or not word.isascii())
    weights = _weights(entries)
    scored = [(_weight_in_common(asked, entry.words, weights), entry) for entry in entries]
    found = [pair for pair in scored if pair[0] > 0]
    found.sort(key=lambda pair: pair[0], reverse=True)
    return tuple(entry for _weight, entry in found[:limit])


def _weights(entries: Sequence[Entry]) -> Mapping[str, float]:
    counts = Counter(word for entry in entries for word in entry.words)
    return {word: math.log(1 + len(entries) / count) for word, count in counts.items()}


def _weight_in_common(
    asked: frozenset[str], words: frozenset[str], weights: Mapping[str, float]
) -> float:
    """Return the weight that both share, 0 when it is too small a part of the lighter one."""
    stems = tuple(word for word in asked if len(word) >= SHORTEST_PREFIX)
    common = {word for word in words if word in asked or word.startswith(stems)}
    shared = sum(weights[word] for word in common)
    lighter = min(
        sum(weights[word] for word in words), sum(weights.get(word, 0.0) for word in asked)
    )
    return shared if shared >= THRESHOLD * lighter else 0.0


def split_words(text: str) -> list[str]:
    """Return lower-case words, and for Chinese the pairs of neighbouring characters.

    >>> split_words("View size 2x3 的步长")
    ['view', 'size', '的步', '步长']
    """
    words: list[str] = []
    for run in _WORD.findall(text.lower()):
        if _CHINESE.match(run) and len(run) > 1:
            words += [run[i : i + 2] for i in range(len(run) - 1)]
        else:
            words.append(run)
    return words
