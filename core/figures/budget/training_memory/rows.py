"""The axes of pictures with a bar a row: the first row on top, numbers beside the bars."""

from collections.abc import Sequence
from typing import Any

from core.figures.picture import Look


def row_axes(look: Look, reach: float, titles: Sequence[str] = ()) -> dict[str, Any]:
    """Return both axes, as parts of a layout.

    Args:
        look: How the reader wants to see.
        reach: Where the picture ends on the right, in the unit of the bars.
        titles: Of rows that are numbered from 0; other bars bring the names of their rows.
    """
    rows: dict[str, Any] = {"autorange": "reversed", "showgrid": False, "fixedrange": True}
    if titles:
        numbered = {"tickvals": list(range(len(titles))), "ticktext": list(titles)}
        rows |= numbered | {"zeroline": False}
    return {
        "xaxis": {"visible": False, "range": [0, reach], "fixedrange": True},
        "yaxis": look.layout()["yaxis"] | rows,
    }
