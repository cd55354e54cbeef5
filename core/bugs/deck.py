"""All cards, by subject and, within it, from easy to hard: a table each, beside this file."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from core.bugs.card import SUBJECTS, Card

_CODE: Final = ("wrong", "right", "other")
_CARDS: Final = Path(__file__).with_name("cards")


def _load() -> Iterator[Card]:
    for subject in SUBJECTS:
        rows = tomllib.loads((_CARDS / f"{subject}.toml").read_text(encoding="utf-8"))["card"]
        for row in sorted(rows, key=lambda row: int(row["level"])):
            code = {name: row[name].strip() for name in _CODE}
            yield Card(subject=subject, **{**row, **code})


DECK: Final = tuple(_load())
BY_KEY: Final[Mapping[str, Card]] = {card.key: card for card in DECK}


def choices_of(card: Card) -> tuple[str, ...]:
    """Return "wrong", "right" and "other" in the order of this card: the right one moves about."""
    turn = DECK.index(card) * 2 % len(_CODE)
    return (*_CODE[turn:], *_CODE[:turn])
