"""The moments of a step that can be its peak, by the closed form: one stacked bar each."""

from collections.abc import Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from core.budget.item import Item
from core.figures.budget.stacked_parts import capacity_line, parts_table, stack
from core.figures.drawing import Drawing
from core.figures.picture import Look
from core.figures.theme import Mode, plotly_layout
from core.language import _
from core.units import ByteUnit, format_bytes

HEIGHT_PX: Final = 310
PRESENT_HEIGHT_PX: Final = 250  # below a headline of three lines
_ROOM: Final = 1.12
_ABOVE: Final = 1.7  # lines of text: the capacity's name stands between legend and bars

Moments = Sequence[tuple[str, Sequence[Item]]]
"""A translated name of each moment, and what the device holds then."""


def moments_figure(
    moments: Moments, capacity: float, unit: ByteUnit, mode: Mode, *, present: bool = False
) -> go.Figure:
    """Return one bar a moment, the first on top, against the device's capacity.

    Args:
        moments: Forward end, backward start and end, optimizer step.
        capacity: Bytes of the device.
        unit: "GiB" or "GB".
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    drawing = Drawing()
    stack(drawing, moments, Look(mode=mode, unit=unit), flat=True)
    top: float = max(_sums(moments))
    if capacity <= 2 * top:
        top = max(top, capacity)
        text = _("capacity {capacity}").format(capacity=format_bytes(capacity, unit))
        capacity_line(drawing, capacity, text, Look(mode=mode, unit=unit), flat=True, longest=top)
    for (label, _parts), amount in zip(moments, _sums(moments), strict=True):
        text = f" {format_bytes(amount, unit)}"
        drawing.note(x=amount, y=label, text=text, xanchor="left")
    layout = plotly_layout(mode, present=present)
    size, height = layout["font"]["size"], PRESENT_HEIGHT_PX if present else HEIGHT_PX
    margin = {"l": 8, "r": 24, "t": round(3.8 * size), "b": 8}
    above = 1 + _ABOVE * size / (height - margin["t"] - margin["b"])
    bare = {"zeroline": False, "showgrid": False, "fixedrange": True}
    return drawing.figure(
        layout
        | {
            "template": "none",
            "barmode": "stack",
            "xaxis": layout["xaxis"]
            | bare
            | {"range": [0, _ROOM * top], "showticklabels": False, "ticks": ""},
            "yaxis": layout["yaxis"] | bare | {"autorange": "reversed", "ticks": ""},
            "legend": layout["legend"] | {"y": above, "traceorder": "normal"},
            "height": height,
            "margin": margin,
        }
    )


def _sums(moments: Moments) -> list[int]:
    return [sum(part.num_bytes for part in parts) for _label, parts in moments]


def moments_alt(moments: Moments, unit: ByteUnit) -> str:
    """Return the picture in words."""
    words = [
        f"{label} {format_bytes(amount, unit)}"
        for (label, _parts), amount in zip(moments, _sums(moments), strict=True)
    ]
    listed = _("; ").join(words)
    return _(
        "What the device holds at the moments of one step, by the closed form: {list}."
    ).format(list=listed)


def moments_table(moments: Moments, unit: ByteUnit) -> Mapping[str, Sequence[object]]:
    """Return one row a moment: each part, the total."""
    return parts_table(moments, Look(unit=unit), _("moment"))
