"""Figures that others have published (published.toml says what its fields mean)."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from core.budget.item import Number

FILE: Final = Path(__file__).with_name("published.toml")
KINDS: Final = ("allocated", "reserved", "nvidia-smi", "counted", "time")
ORIGINS: Final = ("printed", "derived", "fitted")
"""Independent of our rules; derived from what is; what one of our rules was learned from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishedFigure:
    """A number that somebody has published; without `quantity` there is none of ours."""

    slug: str
    number: int
    title: Mapping[str, str]
    value: Number
    printed: str
    unit: str
    kind: str
    origin: str
    tolerance: float | str
    quantity: str
    source: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    not_counted: tuple[str, ...] = ()
    note: Mapping[str, str] = field(default_factory=dict)

    def error(self, amount: Number) -> float:
        """Return the relative error of a number of ours: -0.03 if it is 3 % too small."""
        return amount / self.value - 1


@cache
def published() -> Mapping[str, PublishedFigure]:
    """Return all figures by slug, in their order."""
    rows = tomllib.loads(FILE.read_text(encoding="utf-8"))["figure"]
    found = {row["slug"]: PublishedFigure(**row) for row in rows}
    assert len(found) == len(rows), "a slug stands twice"
    return found
