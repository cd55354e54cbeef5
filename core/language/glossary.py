"""The words of the field: what each is called in both languages, and what it means.

On a control, a tab, an axis and a headline stands the word that a reader would search for in the
literature. The table explains words where they are read and is what a test holds all texts against.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from core.language.catalogue import _, current_language


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the field, or a phrase, and what not to write in its place.

    `not_english` and `not_chinese` are regular expressions; `explanation` is a message of the
    catalogue, empty for a word that only has to be the same everywhere.
    """

    english: str
    chinese: str
    explanation: str = ""
    not_english: Sequence[str] = ()
    not_chinese: Sequence[str] = ()

    def word(self) -> str:
        """Return the word in the current language."""
        return self.chinese if current_language() == "zh" else self.english

    def explained(self) -> str:
        """Return one plain sentence about the word in the current language."""
        return _(self.explanation)


TERMS: Final = tuple(
    Term(**row)
    for row in tomllib.loads(Path(__file__).with_name("glossary.toml").read_text(encoding="utf-8"))[
        "term"
    ]
)
GLOSSARY: Final[Mapping[str, Term]] = MappingProxyType(
    {term.english: term for term in TERMS if term.explanation}
)
