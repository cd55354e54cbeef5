"""Names of the marks below a roof: neighbours share one, and none lies on another."""

import math
from collections.abc import Sequence
from typing import Final

from core.budget.compute.intensity import Operation
from core.figures.drawing import Drawing
from core.language import _

_NEAR: Final = 1.6  # operations whose intensities differ by less share a label
_MOST_NAMES: Final = 3
_CLOSE: Final = 0.6  # powers of ten: labels of groups nearer than this stand below each other
_FIRST_PX: Final = 12


def label_marks(
    drawing: Drawing,
    operations: Sequence[Operation],
    heights: Sequence[float],
    edge: float,
    *,
    present: bool,
) -> None:
    """Name the marks; those that stand together, or on the flat part of the roof, share a label."""
    line_px, before, shift = (24 if present else 18), -math.inf, 0
    for group in _neighbours(operations, edge):
        names = [_(operations[place].name) for place in group]
        shown = names[: 1 if present else _MOST_NAMES]
        more = f" +{len(names) - len(shown)}" if len(names) > len(shown) else ""
        x = math.log10(operations[group[0]].intensity.amount)
        shift = shift if x - before < _CLOSE else _FIRST_PX  # below the label to the left of it
        drawing.note(
            x=x,
            y=math.log10(heights[group[0]]),
            text="<br>".join(shown) + more,
            yshift=-shift,
            yanchor="top",
            xanchor="left",
            align="left",
        )
        before, shift = x, shift + line_px * len(shown)


def _neighbours(operations: Sequence[Operation], edge: float) -> list[list[int]]:
    """Return the places of operations in groups, from few FLOPs a byte to many."""
    order = sorted(range(len(operations)), key=lambda place: operations[place].intensity.amount)
    groups: list[list[int]] = []
    for place in order:
        here = operations[place].intensity.amount
        first = operations[groups[-1][0]].intensity.amount if groups else 0.0
        if groups and (here < _NEAR * first or first >= edge):
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups
