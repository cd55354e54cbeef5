"""The published ladder of techniques, rung by rung, beside what our rules give."""

from dataclasses import dataclass
from functools import cache
from typing import Final

from core.budget.comparison.difference import Difference, peak_difference
from core.budget.comparison.published import PublishedFigure, published
from core.budget.comparison.rederived import rederive
from core.budget.item import Item

NUMBER: Final = 21  # of the list of ground truths: torchtune's table of optimization flags


@dataclass(frozen=True, slots=True)
class Rung:
    """One technique on top of those before it (LoRA and QLoRA replace two of them).

    Attributes:
        published: The published peak.
        ours: What our rules give; None for the first rung, whose lengths were not published.
    """

    published: PublishedFigure
    ours: Item | None

    @property
    def slug(self) -> str:
        """A short name for addresses: "packed"."""
        return self.published.slug.removeprefix("torchtune-")


@cache
def ladder() -> tuple[Rung, ...]:
    """Return the rungs from the top."""
    rows = [row for row in published().values() if row.number == NUMBER]
    return tuple(Rung(row, rederive(row)) for row in rows)


def step_down(rungs: tuple[Rung, ...], place: int) -> Difference | None:
    """Return what changed from the rung above; None where one of the two has no figure of ours."""
    above, here = rungs[place - 1].ours if place else None, rungs[place].ours
    return None if above is None or here is None else peak_difference(above, here)
