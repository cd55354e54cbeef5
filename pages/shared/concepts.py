"""What concepts are called, in both languages."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from pages.shared.lessons import in_language

_FILE: Final = Path(__file__).with_name("concepts.toml")


@cache
def load_concepts() -> Mapping[str, Mapping[str, str]]:
    """Return id -> language -> name."""
    concepts: dict[str, dict[str, str]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
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
