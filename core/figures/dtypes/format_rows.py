"""Rows of formats: the name of each at the left, words about it at the right."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.figures.picture import Look

DENSE_ROW_PX: Final = 19
_MAX_TALL_ROWS: Final = 9
_DENSE_TEXT_PX: Final = 15


def are_dense(rows: Sequence[object]) -> bool:
    """Return whether rows are so many that they become low, with small words."""
    return len(rows) > _MAX_TALL_ROWS


def row_axes(
    names: Sequence[str], words: Sequence[str], look: Look, right: Mapping[str, Any]
) -> dict[str, Any]:
    """Return both vertical axes; the right one, y2, is drawn only if a trace lies on it."""
    layout = look.layout()
    size = layout["font"]["size"]
    text_size = min(size, _DENSE_TEXT_PX) if are_dense(names) else size
    rows = {
        "range": [len(names) - 0.5, -0.5],
        "tickvals": list(range(len(names))),
        "tickfont": layout["font"] | {"size": text_size},
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
    }
    return {
        "yaxis": layout["yaxis"] | rows | {"ticktext": [f"{name} " for name in names]},
        "yaxis2": {**right, **rows, "overlaying": "y", "side": "right", "ticktext": list(words)},
    }
