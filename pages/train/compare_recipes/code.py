"""Show the code: mixed precision in plain torch, and any other comparison as the page runs it."""

from typing import Final

from core.budget.table import read_table
from core.train.recipes.choices import Comparison

_PROGRAMS: Final = read_table(__file__)


def code_of(comparison: Comparison) -> str:
    """Return Python that does what is compared."""
    if comparison.axis == "precision":
        return str(_PROGRAMS["mixed"])
    settings = (f"{name}={getattr(comparison, name)!r}" for name in comparison.__slots__)
    return str(_PROGRAMS["race"]).format(settings=", ".join(settings))


def code_at_scale(comparison: Comparison, size: str) -> str:
    """Return Python that computes the same at a large size."""
    text = str(_PROGRAMS["scale"])
    return text.format(axis=comparison.axis, values=comparison.values, size=size)
