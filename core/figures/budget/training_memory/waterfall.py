"""What changed between two budgets: a waterfall from the first total to the second."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import plotly.graph_objects as go

from core.budget.formula import Number
from core.figures.drawing import Drawing
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _
from core.units import ByteUnit, format_bytes

_ROW_HEIGHT: Final = 1.7  # of the text's size
_PRESENT_ROW_HEIGHT: Final = 1.45
_ROOM: Final = 1.22  # of the longest bar: its number stands beside it


@dataclass(frozen=True, slots=True)
class Rung:
    """One change: a translated label, how many bytes it adds, and why in a translated sentence."""

    label: str
    change: Number
    why: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """Where it starts, what changes, where it ends; the changes add up to the difference."""

    first: str
    last: str
    start: Number
    rungs: Sequence[Rung]

    @property
    def end(self) -> Number:
        """The bytes at the end."""
        return self.start + sum(rung.change for rung in self.rungs)


def signed(num_bytes: float, unit: ByteUnit) -> str:
    """Return a change with its sign: "+1.50 GiB", "−2.00 GiB"."""
    if not num_bytes:
        return "±0"
    return ("+" if num_bytes > 0 else "−") + format_bytes(abs(num_bytes), unit)


def waterfall_figure(way: Way, unit: ByteUnit, mode: Mode, *, present: bool = False) -> go.Figure:
    """Return one row for each total and each change, from top to bottom."""
    layout = plotly_layout(mode, present=present)
    drawing = Drawing()
    labels = [way.first, *(rung.label for rung in way.rungs), way.last]
    places = _places(way)
    _draw_bars(drawing, way, places, unit, COLORS[mode])
    _draw_links(drawing, places, COLORS[mode]["muted"])
    size = layout["font"]["size"]
    high = max(max(place) for place in places) or 1
    rows = list(range(len(labels)))
    row_height = _PRESENT_ROW_HEIGHT if present else _ROW_HEIGHT
    axes = {
        "xaxis": {"visible": False, "range": [0, _ROOM * high], "fixedrange": True},
        "yaxis": layout["yaxis"]
        | {"tickvals": rows, "ticktext": labels, "autorange": "reversed"}
        | {"showgrid": False, "zeroline": False, "fixedrange": True},
        "height": round((len(labels) + 1) * size * row_height),
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
    }
    return drawing.figure(
        layout
        | axes
        | {"template": "none", "showlegend": False, "bargap": 0.3, "barmode": "overlay"}
    )


def _places(way: Way) -> list[tuple[Number, Number]]:
    """Return where each row's bar begins and ends."""
    places: list[tuple[Number, Number]] = [(0, way.start)]
    here = way.start
    for rung in way.rungs:
        places.append((here, here + rung.change))
        here += rung.change
    return [*places, (0, here)]


def _draw_bars(
    drawing: Drawing,
    way: Way,
    places: Sequence[tuple[Number, Number]],
    unit: ByteUnit,
    color: Mapping[str, str],
) -> None:
    amounts = [way.start, *(rung.change for rung in way.rungs), way.end]
    ends = (0, len(places) - 1)
    looks = [_look(row in ends, change) for row, change in enumerate(amounts)]
    texts = [
        format_bytes(amount, unit) if row in ends else signed(amount, unit)
        for row, amount in enumerate(amounts)
    ]
    drawing.bar(
        orientation="h",
        y=list(range(len(places))),
        base=[min(place) for place in places],
        x=[max(place) - min(place) for place in places],
        marker={
            "color": [color[token] for token, _pattern in looks],
            "pattern": {"shape": [pattern for _token, pattern in looks]},
        },
        text=texts,
        textposition="outside",
        constraintext="none",
        cliponaxis=False,
        customdata=["", *(rung.why for rung in way.rungs), ""],
        hovertemplate="%{text}<br>%{customdata}<extra></extra>",
    )


def _look(is_total: bool, change: Number) -> tuple[str, str]:
    if is_total:
        return "other", ""
    return ("grew", "") if change > 0 else ("shrank", "/")


def _draw_links(drawing: Drawing, places: Sequence[tuple[Number, Number]], color: str) -> None:
    """Draw from the end of each bar to the next one."""
    for row, (_begin, end) in enumerate(places[:-1]):
        drawing.shape(
            type="line",
            x0=end,
            x1=end,
            y0=row - 0.35,
            y1=row + 1.35,
            line={"color": color, "width": 1, "dash": "dot"},
        )


def waterfall_alt(way: Way, unit: ByteUnit) -> str:
    """Return the picture in words."""
    steps = [f"{rung.label} {signed(rung.change, unit)}" for rung in way.rungs]
    return _("From {first}, {start}, to {last}, {end}: {steps}.").format(
        first=way.first,
        start=format_bytes(way.start, unit),
        last=way.last,
        end=format_bytes(way.end, unit),
        steps=_(", ").join(steps) or _("nothing changes"),
    )


def waterfall_table(way: Way, unit: ByteUnit) -> Mapping[str, Sequence[object]]:
    """Return one row for each bar: what it is, how much it changes, what is reached, and why."""
    ends = [end for _begin, end in _places(way)]
    return {
        _("step"): [way.first, *(rung.label for rung in way.rungs), way.last],
        _("change"): ["", *(signed(rung.change, unit) for rung in way.rungs), ""],
        _("reached"): [format_bytes(end, unit) for end in ends],
        _("why"): ["", *(rung.why for rung in way.rungs), ""],
    }
