"""Our own Markdown beside a page, words of the field that explain themselves, foreign words."""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import streamlit as st

from core.language import N_, _, current_language

_MARK: Final = re.compile(r"\[\[([a-z ]+)\]\]")
_MARKUP: Final = re.compile(r"[\\`*_\[\]()!<>$#|~]")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the glossary and its explanation, both marked for the catalogue."""

    word: str
    explanation: str


GLOSSARY: Final[Mapping[str, Word]] = MappingProxyType(
    {
        "tensor": Word(N_("tensor"), N_("A block of numbers of one type, with a shape.")),
        "token": Word(
            N_("token"), N_("A piece of text that the model sees as one number: here a character.")
        ),
        "parameter": Word(N_("parameter"), N_("A number of the model that training changes.")),
        "weights": Word(N_("weights"), N_("The numbers of the model that training changes.")),
        "gradient": Word(
            N_("gradient"),
            N_("For each weight: how much the loss changes when the weight changes a little."),
        ),
        "optimizer state": Word(
            N_("optimizer state"),
            N_("What the optimizer remembers: AdamW keeps two numbers for each weight."),
        ),
        "activations": Word(
            N_("activations"),
            N_("Results of the forward pass that are kept because the backward pass needs them."),
        ),
        "loss": Word(
            N_("loss"),
            N_("How surprised the model is by the next token, in nats; lower is better."),
        ),
        "entropy": Word(
            N_("entropy"),
            N_("The average surprise, in nats, of someone who knows only how often things occur."),
        ),
        "learning rate": Word(
            N_("learning rate"), N_("How far one step moves the weights against the gradient.")
        ),
        "batch": Word(N_("batch"), N_("The examples that one step looks at together.")),
        "checkpoint": Word(
            N_("checkpoint"), N_("A file with all that is needed to continue a run exactly.")
        ),
        "embedding": Word(N_("embedding"), N_("The list of numbers that stands for one token.")),
        "attention": Word(
            N_("attention"), N_("Each token gathers from earlier tokens what it needs from them.")
        ),
        "exponent": Word(
            N_("exponent"), N_("The bits of a number that say between which powers of two it lies.")
        ),
        "mantissa": Word(
            N_("mantissa"), N_("The bits of a number that say where between those powers it lies.")
        ),
        "FLOPs": Word(N_("FLOPs"), N_("How many additions and multiplications: a count.")),
        "FLOP/s": Word(N_("FLOP/s"), N_("Additions and multiplications in a second: a rate.")),
        "scale factor": Word(
            N_("scale factor"),
            N_("What the small numbers of a block are multiplied with to get their size back."),
        ),
        "outlier": Word(N_("outlier"), N_("A value much larger than the ones beside it.")),
        "throughput": Word(N_("throughput"), N_("How much is done in a second: tokens/s.")),
    }
)


def term(name: str) -> str:
    """Return HTML of a word that shows its explanation on hover and on focus.

    Raises:
        ValueError: If the glossary has no such word.
    """
    if name not in GLOSSARY:
        raise ValueError(f"{name!r} is not in the glossary; it has: {', '.join(GLOSSARY)}")
    entry = GLOSSARY[name]
    word, explanation = html.escape(_(entry.word)), html.escape(_(entry.explanation))
    return (
        f'<span class="term" tabindex="0" role="note" aria-label="{word}: {explanation}" '
        f'data-explains="{explanation}">{word}</span>'
    )


def prose(page_file: str, name: str) -> None:
    """Show `<name>.<language>.md`, which lies beside the page.

    `[[gradient]]` in the file becomes a word that explains itself.

    Args:
        page_file: The page's `__file__`.
        name: What the text is about: "intro".

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
