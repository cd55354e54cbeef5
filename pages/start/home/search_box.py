"""One box that searches lessons, the questions of the pages, and error texts of torch."""

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from textwrap import shorten

import streamlit as st

from core.language import _
from pages.shared import pickers
from pages.shared.concepts import load_concepts
from pages.shared.lessons import Lesson, in_language, load_lessons
from pages.shared.navigation import PAGES, PageRow, page_row
from pages.shared.start.course_map import address, find
from pages.start.home.search import Entry, search
from pages.start.home.torch_errors import TorchError, load_torch_errors

MAX_QUERY = 600
MAX_HITS = 3
HEADLINE_CHARS = 110


def search_box(page: str) -> tuple[Entry, ...]:
    """Show the box and return what was found, best first; nothing asked, nothing found."""
    query = pickers.text(
        page,
        "search",
        _("Search lessons, questions and PyTorch error texts"),
        max_chars=MAX_QUERY,
        help=_("Paste an error text of PyTorch, whole or in part; the numbers in it may differ."),
    )
    hits = search(query, entries(), MAX_HITS)
    if query.strip() and not hits:
        st.caption(
            _("Nothing found for these words. Try the words of an error text, or fewer words.")
        )
    return hits


def show_hits(hits: Sequence[Entry]) -> None:
    """Show each hit: an error with its reason and remedy, a lesson or page with its link."""
    for hit in hits:
        if hit.kind == "error":
            _show_error(_errors()[hit.target])
        elif hit.kind == "lesson":
            lesson = find(hit.target)
            st.markdown(f":material/school: [{in_language(lesson.title)}]({address(lesson)})")
        else:
            row = page_row(hit.target)
            st.page_link(row.file, label=f"{_(row.title)}: {_(question(row))}")


def headline_of(hit: Entry) -> str:
    """Return a hit in one line."""
    if hit.kind == "error":
        text = _errors()[hit.target].text.replace("`", "'")
        return f"`{shorten(text, HEADLINE_CHARS, placeholder='…')}`"
    return in_language(find(hit.target).title) if hit.kind == "lesson" else _page_title(hit.target)


@cache
def entries() -> tuple[Entry, ...]:
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


def _page_title(key: str) -> str:
    return _(page_row(key).title)


def _errors() -> dict[str, TorchError]:
    return {error.slug: error for error in load_torch_errors()}


def _show_error(error: TorchError) -> None:
    with st.container(border=True):
        st.code(f"{error.type}: {error.text}", language=None, wrap_lines=True)
        # A text inside an f-string is not collected before Python 3.12.
        why, what_to_do = _("Why"), _("What to do")
        st.markdown(f"**{why}** {in_language(error.why)}")
        st.markdown(f"**{what_to_do}** {in_language(error.fix)}")
        with st.expander(_("Code that raises it")):
            st.code(f"import torch\n\n{error.code}", language="python")
