"""Figures that others have published: what kind of figure, and how near ours must come."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from core.budget.check import check_choice
from core.budget.item import Number
from core.budget.training.memory import NOT_COUNTED

FILE: Final = Path(__file__).with_name("published.toml")
KINDS: Final = ("allocated", "reserved", "nvidia-smi", "counted", "time")
ORIGINS: Final = ("printed", "derived", "fitted")
"""Independent of our rules; derived from what is; what one of our rules was learned from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishedFigure:
    """A number that somebody has published.

    Attributes:
        slug: Unique name: "torchtune-packed".
        number: The row of the list of ground truths that it belongs to.
        title: What it is, by language: "en", "zh".
        value: The number in `unit`, as published (bytes are bytes, whatever the source wrote).
        printed: The number as the source prints it.
        unit: "bytes", "parameters", "FLOPs", "s", "tokens/s" or "1".
        kind: One of KINDS: what was read, and where.
        origin: One of ORIGINS: who made the number, and whether a rule of ours knew it.
        tolerance: Largest relative error of ours; None where it must lie inside the band of ours.
        quantity: Which function of `rederived` gives ours; "" where there is none.
        inputs: What that function is given.
        not_counted: Keys of `core.budget.training.memory.NOT_COUNTED`: what the run did that no
            budget counts. Such a run is no proof of a band.
        source: Where it was published.
        note: What explains the error of ours, or why there is no figure of ours; by language.
    """

    slug: str
    number: int
    title: Mapping[str, str]
    value: Number
    printed: str
    unit: str
    kind: str
    origin: str
    tolerance: float | None
    quantity: str
    source: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    not_counted: tuple[str, ...] = ()
    note: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)
        check_choice("origin", self.origin, ORIGINS)
        for flag in self.not_counted:
            check_choice("not_counted", flag, tuple(NOT_COUNTED))
        if self.not_counted and self.tolerance is None:
            raise ValueError(f"{self.slug}: a run with {self.not_counted[0]} is no proof of a band")
        if self.value <= 0:
            raise ValueError(f"{self.slug}: the value {self.value} must be positive")
        if self.tolerance is not None and not 0 <= self.tolerance <= 0.5:
            raise ValueError(f"{self.slug}: the tolerance {self.tolerance} is no honest one")
        if not (self.source and self.title and self.printed):
            raise ValueError(f"{self.slug}: source, title and printed must be given")

    def error(self, amount: Number) -> float:
        """Return the relative error of a number of ours: -0.03 if it is 3 % too small."""
        return amount / self.value - 1


def read_published(text: str) -> Mapping[str, PublishedFigure]:
    """Return the figures of a TOML text by slug.

    Raises:
        ValueError: If two share a slug, or a row is not valid.
        TypeError: If a row lacks a field or has an unknown one.
    """
    found: dict[str, PublishedFigure] = {}
    for row in tomllib.loads(text).get("figure", []):
        tolerance = row.pop("tolerance")
        figure = PublishedFigure(**row, tolerance=None if tolerance == "band" else tolerance)
        if figure.slug in found:
            raise ValueError(f"{figure.slug} stands twice")
        found[figure.slug] = figure
    return found


@cache
def published() -> Mapping[str, PublishedFigure]:
    """Return all figures of published.toml by slug, in its order."""
    return read_published(FILE.read_text(encoding="utf-8"))
