"""DDP, ZeRO and FSDP side by side: the states of one device, and what it sends for that."""

from collections.abc import Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from core.budget.parallel.sharding import STRATEGIES, Sharding
from core.figures.budget.stacked_parts import Bars, capacity_line, parts_table, stack
from core.figures.drawing import Drawing
from core.figures.picture import Look
from core.figures.theme import Mode, plotly_layout
from core.language import _
from core.units import ByteUnit, format_bytes, format_seconds

_ROW_HEIGHT: Final = 3.0  # of the text's size
_ROOM: Final = {False: 1.5, True: 1.85}  # of the longest bar: what is sent stands beside it


def sharding_figure(
    ways: Sequence[Sharding],
    capacity: float,
    unit: ByteUnit,
    mode: Mode,
    *,
    chosen: str = "",
    present: bool = False,
) -> go.Figure:
    """Return one bar a way, the chosen one's name in bold."""
    layout = plotly_layout(mode, present=present)
    drawing = Drawing()
    bars = _bars(ways, chosen)
    stack(drawing, bars, Look(mode=mode, unit=unit), flat=True)
    text = _("device: {size}").format(size=format_bytes(capacity, unit))
    longest = max(way.held.amount for way in ways)
    room = _ROOM[present] * longest
    if capacity < room:
        capacity_line(drawing, capacity, text, Look(mode=mode, unit=unit), flat=True, longest=room)
    for (label, _parts), way in zip(bars, ways, strict=True):
        note = f" {format_bytes(way.held.amount, unit)} · {sent_text(way, unit)}"
        drawing.note(x=way.held.amount, y=label, xanchor="left", text=note)
    size = int(layout["font"]["size"])
    axes = {
        "xaxis": {"visible": False, "range": [0, room], "fixedrange": True},
        "yaxis": layout["yaxis"] | {"autorange": "reversed", "showgrid": False, "fixedrange": True},
        "height": round(len(ways) * size * _ROW_HEIGHT) + 6 * size,
        "margin": {"l": 8, "r": 8, "t": 5 * size, "b": 8},
        "legend": layout["legend"] | {"y": 1.12, "traceorder": "normal"},
    }
    return drawing.figure(layout | axes | {"template": "none", "barmode": "stack", "bargap": 0.35})


def _bars(ways: Sequence[Sharding], chosen: str = "") -> Bars:
    names = {way.key: _(STRATEGIES[way.key]) for way in ways}
    bold = {key: f"<b>{name}</b>" if key == chosen else name for key, name in names.items()}
    return [(bold[way.key], way.held.children) for way in ways]


def sent_text(way: Sharding, unit: ByteUnit) -> str:
    """Return what a way sends in a step and how long that takes."""
    return _("sends {size} in {time}").format(
        size=format_bytes(way.sent.amount, unit), time=format_seconds(way.seconds.amount)
    )


def sharding_alt(ways: Sequence[Sharding], unit: ByteUnit) -> str:
    """Return the picture in words."""
    parts = [
        _("{name} {size}").format(
            name=_(STRATEGIES[way.key]), size=format_bytes(way.held.amount, unit)
        )
        for way in ways
    ]
    return _("Weights, gradients and optimizer states on one device: {parts}.").format(
        parts=_(", ").join(parts)
    )


def sharding_table(ways: Sequence[Sharding], unit: ByteUnit) -> Mapping[str, Sequence[object]]:
    """Return one row a way."""
    return {
        **parts_table(_bars(ways), Look(unit=unit), _("way")),
        _("sent in a step"): [format_bytes(way.sent.amount, unit) for way in ways],
        _("seconds on the link"): [format_seconds(way.seconds.amount) for way in ways],
    }
