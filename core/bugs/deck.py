"""All cards, by subject and, within it, from easy to hard."""

from collections.abc import Mapping
from typing import Final

from core.bugs import compute, data, gradients, memory, models, numbers, tensors, training
from core.bugs.card import Card

DECK: Final[tuple[Card, ...]] = tuple(
    card
    for room in (numbers, memory, compute, tensors, gradients, training, data, models)
    for card in sorted(room.CARDS, key=lambda card: card.level)
)
_CHOICES: Final = ("wrong", "right", "other")
BY_KEY: Final[Mapping[str, Card]] = {card.key: card for card in DECK}


def choices_of(card: Card) -> tuple[str, ...]:
    """Return "wrong", "right" and "other" in the order of this card: the right one moves about."""
    turn = DECK.index(card) * 2 % len(_CHOICES)
    return (*_CHOICES[turn:], *_CHOICES[:turn])
