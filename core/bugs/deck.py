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
BY_KEY: Final[Mapping[str, Card]] = {card.key: card for card in DECK}
