"""What a device holds at the peak of training: one bar a stage, and the line where it is full.

The last part of a bar, hatched and pale, reaches to the upper end of the honest band.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import plotly.graph_objects as go

from core.budget.item import Item
from core.figures.budget.stacked_parts import capacity_line, parts_table, stack
from core.figures.drawing import Drawing
from core.figures.picture import Look
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _
from core.units import ByteUnit, format_bytes

MOST_BARS: Final = 16
_ROOM: Final = 1.12
_LABEL_PX: Final = 62  # beside the longest bar, for its total


@dataclass(frozen=True, slots=True)
class DeviceBar:
    """One bar.

    Attributes:
        label: Translated: "stage 0".
        parts: What it is made of.
        low: Lower end of the band of their sum, in bytes.
        high: Upper end of it.
    """

    label: str
    parts: Sequence[Item]
    low: float
    high: float

    @property
    def amount(self) -> float:
        """Bytes of all parts."""
        return sum(part.amount for part in self.parts)


Bars = Sequence[DeviceBar]


def bar_figure(
    bars: Bars, capacity: float, unit: ByteUnit, mode: Mode, *, present: bool = False
) -> go.Figure:
    """Return the bars, the first stage on top, with the line of the device's capacity."""
    layout = plotly_layout(mode, present=present)
    color = COLORS[mode]
    drawing = Drawing()
    stack(drawing, [(bar.label, bar.parts) for bar in bars], Look(mode=mode, unit=unit), flat=True)
    _uncertain(drawing, bars, unit, color)
    text = _("full at {size}").format(size=format_bytes(capacity, unit))
    capacity_line(
        drawing,
        capacity,
        text,
        Look(mode=mode, unit=unit),
        flat=True,
        longest=_longest(bars, capacity),
    )
    for bar in bars:
        most = _("up to {size}").format(size=format_bytes(bar.high, unit))
        drawing.note(
            x=max(bar.high, bar.amount),
            y=bar.label,
            xanchor="left",
            align="left",
            text=f" <b>{format_bytes(bar.amount, unit)}</b>"
            + (f"<br> {most}" if len(bars) < MOST_BARS else ""),
        )
    return drawing.figure(layout | _axes(bars, capacity, layout))


def _longest(bars: Bars, capacity: float) -> float:
    return max(capacity, *(bar.high for bar in bars))


def _axes(bars: Bars, capacity: float, layout: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of the layout that depends on how many bars there are and how long."""
    size, longest = layout["font"]["size"], _longest(bars, capacity)
    tall = max(3, 2 * len(bars)) if len(bars) < MOST_BARS else 1.3 * len(bars)
    names = {"autorange": "reversed", "showgrid": False, "showticklabels": len(bars) > 1}
    return {
        "xaxis": {"visible": False, "range": [0, _ROOM * longest], "fixedrange": True},
        "yaxis": layout["yaxis"] | names | {"fixedrange": True},
        "legend": layout["legend"] | {"y": 0, "yanchor": "top", "traceorder": "normal"},
        "height": round(tall * size * 1.7) + 8 * size,
        "margin": {"l": 8, "r": _LABEL_PX, "t": 2 * size, "b": 8},
        "template": "none",
        "barmode": "stack",
        "bargap": 0.25,
    }


def _uncertain(drawing: Drawing, bars: Bars, unit: ByteUnit, color: Mapping[str, str]) -> None:
    """Add the part of each bar that may come on top."""
    bands = [
        _("{low} to {high}").format(
            low=format_bytes(bar.low, unit), high=format_bytes(bar.high, unit)
        )
        for bar in bars
    ]
    drawing.bar(
        x=[max(0.0, bar.high - bar.amount) for bar in bars],
        y=[bar.label for bar in bars],
        orientation="h",
        name=_("may come on top"),
        marker={
            "color": "rgba(0,0,0,0)",
            "line": {"color": color["estimated"], "width": 1},
            "pattern": {"shape": "/", "fgcolor": color["estimated"], "fillmode": "overlay"},
        },
        customdata=bands,
        hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
    )


def bar_alt(bars: Bars, capacity: float, unit: ByteUnit) -> str:
    """Return the picture in words: the most loaded bar, its largest parts, the line."""
    most = max(bars, key=lambda bar: bar.amount)
    largest = sorted(most.parts, key=lambda part: -part.amount)[:4]
    parts = [
        _("{name} {size}").format(name=_(part.name), size=format_bytes(part.amount, unit))
        for part in largest
    ]
    return _(
        "The most loaded device, {label}, holds {amount} at the peak, between {low} and {high}: "
        "{parts}. It is full at {capacity}."
    ).format(
        label=most.label,
        amount=format_bytes(most.amount, unit),
        low=format_bytes(most.low, unit),
        high=format_bytes(most.high, unit),
        parts=_(", ").join(parts),
        capacity=format_bytes(capacity, unit),
    )


def bar_table(bars: Bars, unit: ByteUnit) -> Mapping[str, Sequence[object]]:
    """Return one row a bar: its parts, its total, its band."""
    table = parts_table([(bar.label, bar.parts) for bar in bars], Look(unit=unit), _("device"))
    return {
        **table,
        _("at least"): [format_bytes(bar.low, unit) for bar in bars],
        _("at most"): [format_bytes(bar.high, unit) for bar in bars],
    }
