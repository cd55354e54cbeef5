"""Seconds of one step on each link, beside the seconds of compute."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import plotly.graph_objects as go

from core.budget.item import Item
from core.budget.parallel.communication import AXIS_NAMES
from core.budget.parallel.ranks import Axis
from core.figures.drawing import Drawing
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _
from core.units import ByteUnit, format_bytes, format_seconds

_ROW_HEIGHT: Final = 2.0  # of the text's size
_LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    "data": ("gradients", ""),
    "expert data": ("gradients", "/"),
    "tensor": ("weights", ""),
    "pipeline": ("optimizer", ""),
    "expert": ("activations", ""),
    "compute": ("other", ""),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkView:
    """What the picture shows.

    Attributes:
        seconds: The tree of `exposed_seconds`, axis by axis.
        links: Axis -> message id of the link that is used.
        compute: Seconds of compute in a step.
    """

    seconds: Item
    links: Mapping[Axis, str]
    compute: Item


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    axis: str
    label: str
    item: Item
    text: str


def link_figure(view: LinkView, unit: ByteUnit, mode: Mode, *, present: bool = False) -> go.Figure:
    """Return one bar a collective, with its band; compute comes first."""
    layout = plotly_layout(mode, present=present)
    rows = list(_rows(view, unit))
    drawing = Drawing()
    drawing.bar(**_bars(rows, COLORS[mode]))
    longest = max(row.item.high for row in rows) or 1.0
    for row in rows:
        drawing.note(x=row.item.high, y=row.label, xanchor="left", text=f" {row.text}")
    size = int(layout["font"]["size"])
    axes = {
        "xaxis": {"visible": False, "range": [0, 1.9 * longest], "fixedrange": True},
        "yaxis": layout["yaxis"] | {"autorange": "reversed", "showgrid": False, "fixedrange": True},
        "height": round(len(rows) * size * _ROW_HEIGHT) + 3 * size,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
    }
    return drawing.figure(layout | axes | {"template": "none", "showlegend": False, "bargap": 0.4})


def _bars(rows: Sequence[_Row], color: Mapping[str, str]) -> dict[str, Any]:
    return {
        "orientation": "h",
        "y": [row.label for row in rows],
        "x": [row.item.amount for row in rows],
        "marker": {
            "color": [color[_LOOKS[row.axis][0]] for row in rows],
            "pattern": {"shape": [_LOOKS[row.axis][1] for row in rows]},
        },
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [row.item.high - row.item.amount for row in rows],
            "arrayminus": [row.item.amount - row.item.low for row in rows],
            "color": color["muted"],
        },
        "customdata": [row.text for row in rows],
        "hovertemplate": "%{y}: %{customdata}<extra></extra>",
    }


def _rows(view: LinkView, unit: ByteUnit) -> Iterator[_Row]:
    compute = format_seconds(view.compute.amount)
    yield _Row(axis="compute", label=_("compute"), item=view.compute, text=compute)
    names = {AXIS_NAMES[axis]: axis for axis in AXIS_NAMES}
    for group in view.seconds.children:
        axis = names[group.name]
        for line in group.children:
            text = _("{seconds}: {size}, {link}, {speed}/s").format(
                seconds=format_seconds(line.amount),
                size=format_bytes(line.values["num_bytes"], unit),
                link=_(view.links[axis]),
                speed=format_bytes(line.values["bytes_per_second"], "GB"),
            )
            yield _Row(axis=axis, label=_(line.name), item=line, text=text)


def link_alt(view: LinkView, unit: ByteUnit) -> str:
    """Return the picture in words."""
    rows = list(_rows(view, unit))
    if len(rows) == 1:
        return _("One device sends nothing; it computes for {seconds} in a step.").format(
            seconds=rows[0].text
        )
    return _("Seconds of a step on each link: {parts}.").format(
        parts=_("; ").join(f"{row.label} {row.text}" for row in rows)
    )


def link_table(view: LinkView, unit: ByteUnit) -> Mapping[str, Sequence[object]]:
    """Return one row a bar."""
    rows = list(_rows(view, unit))
    return {
        _("what"): [row.label for row in rows],
        _("least"): [format_seconds(row.item.low) for row in rows],
        _("seconds"): [format_seconds(row.item.amount) for row in rows],
        _("most"): [format_seconds(row.item.high) for row in rows],
        _("how"): [row.text for row in rows],
    }
