"""One bar a pipeline stage: what its devices hold when they hold most."""

from collections.abc import Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from core.figures.budget.stacked_parts import Bars, capacity_line, parts_table, stack
from core.figures.drawing import Drawing
from core.figures.picture import Look
from core.figures.theme import Mode, plotly_layout
from core.language import _
from core.units import ByteUnit, format_bytes

HEIGHT_PX: Final = 400
_ROOM: Final = 1.12
_MOST_TOTALS: Final = 12  # bars that still have room for their total above them


def stage_figure(
    bars: Bars,
    capacity: float | None,
    unit: ByteUnit,
    mode: Mode,
    *,
    present: bool = False,
    height: int = HEIGHT_PX,
) -> go.Figure:
    """Return the stages side by side, below the line at which a device is full, if it has one."""
    layout = plotly_layout(mode, present=present)
    drawing = Drawing()
    stack(drawing, bars, Look(mode=mode, unit=unit), flat=False)
    totals = _totals(bars)
    if capacity is not None:
        text = _("device: {size}").format(size=format_bytes(capacity, unit))
        capacity_line(drawing, capacity, text, Look(mode=mode, unit=unit), flat=False)
    for (label, _parts), amount in zip(bars, totals, strict=True):
        if len(bars) <= _MOST_TOTALS:
            drawing.note(x=label, y=amount, yanchor="bottom", text=format_bytes(amount, unit))
    highest = _ROOM * max(capacity or 0, *totals)
    axes = {
        "xaxis": layout["xaxis"] | {"type": "category", "fixedrange": True, "showgrid": False},
        "yaxis": layout["yaxis"]
        | {"visible": False, "range": [0, highest], "fixedrange": True, "showgrid": False},
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 56, "b": 8},
        "legend": layout["legend"] | {"traceorder": "normal"},
    }
    return drawing.figure(layout | axes | {"template": "none", "barmode": "stack", "bargap": 0.3})


def _totals(bars: Bars) -> list[int]:
    return [sum(part.num_bytes for part in parts) for _label, parts in bars]


def stage_alt(bars: Bars, capacity: float, unit: ByteUnit) -> str:
    """Return the picture in words."""
    totals = _totals(bars)
    most, least = totals.index(max(totals)), totals.index(min(totals))
    if len(bars) == 1:
        return _("What a device holds at its peak: {size}; a device has {capacity}.").format(
            size=format_bytes(totals[0], unit), capacity=format_bytes(capacity, unit)
        )
    return _(
        "What a device of each of {count} stages holds at its peak: {first} most, {most}; {last} "
        "least, {least}; a device has {capacity}."
    ).format(
        count=len(bars),
        first=bars[most][0],
        most=format_bytes(totals[most], unit),
        last=bars[least][0],
        least=format_bytes(totals[least], unit),
        capacity=format_bytes(capacity, unit),
    )


def pair_alt(bars: Bars, unit: ByteUnit) -> str:
    """Return bars of anything in words: the total of each."""
    parts = [
        _("{name} {size}").format(name=label, size=format_bytes(size, unit))
        for (label, _parts), size in zip(bars, _totals(bars), strict=True)
    ]
    return _("Weights, gradients and optimizer states on each rank: {parts}.").format(
        parts=_(", ").join(parts)
    )


def stage_table(bars: Bars, unit: ByteUnit) -> Mapping[str, Sequence[object]]:
    """Return one row a stage."""
    return parts_table(bars, Look(unit=unit), _("stage"))
