"""Our own Markdown beside a page, words of the field that explain themselves, foreign words."""

import html
import re
from pathlib import Path
from typing import Final

import streamlit as st

from core.language import _, current_language
from core.language.glossary import GLOSSARY

_MARK: Final = re.compile(r"\[\[([A-Za-z /()-]+)\]\]")
_MARKUP: Final = re.compile(r"[\\`*_\[\]()!<>$#|~]")


def term(name: str) -> str:
    """Return HTML of a word that shows its explanation on hover and on focus.

    Raises:
        ValueError: If the glossary has no such word.
    """
    if name not in GLOSSARY:
        raise ValueError(f"{name!r} is not in the glossary; it has: {', '.join(GLOSSARY)}")
    entry = GLOSSARY[name]
    word, explanation = html.escape(entry.word()), html.escape(entry.explained())
    spoken = _("{choice}: {value}").format(choice=word, value=explanation)
    return (
        f'<span class="term" tabindex="0" role="note" aria-label="{spoken}" '
        f'data-explains="{explanation}">{word}</span>'
    )


def prose(page_file: str, name: str) -> None:
    """Show `<name>.<language>.md`, which lies beside the page.

    `[[gradient]]` in the file becomes a word that explains itself.

    Raises:
        ValueError: If the text is missing in the reader's language.
    """
    show_prose(prose_file(page_file, name, current_language()).read_text(encoding="utf-8"))


def prose_file(page_file: str, name: str, language: str) -> Path:
    """Return the file of a text.

    Raises:
        ValueError: If there is none.
    """
    path = Path(page_file).with_name(f"{name}.{language}.md")
    if not path.is_file():
        raise ValueError(f"the text {path.name} is missing in {path.parent.name}")
    return path


def show_prose(text: str) -> None:
    """Show our own Markdown, glossary words explained. Never for text that a user wrote."""
    with_terms = _MARK.sub(lambda mark: term(mark.group(1)), text)
    st.markdown(with_terms, unsafe_allow_html=True)


def as_typed(text: str) -> str:
    """Return a file's name, or what a reader typed, so that Markdown shows it as it is."""
    return _MARKUP.sub(r"\\\g<0>", text)
