"""The bytes of a model's weights in several formats, codes and scales apart."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.budget.item import Item
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import N_, _
from core.units import ByteUnit, format_bytes

PART_NAMES: Final[Mapping[str, str]] = {
    "codes": N_("codes"),
    "scales": N_("scales"),
    "zero points": N_("zero points"),
    "scales of the scales": N_("scales of the scales"),
}
_LOOKS: Final = {
    "codes": ("weights", ""),
    "scales": ("gradients", "/"),
    "zero points": ("optimizer", "x"),
    "scales of the scales": ("activations", "."),
}
Rows = Sequence[tuple[str, Item]]  # a translated label and the bytes behind it


def bytes_figure(rows: Rows, unit: ByteUnit, mode: Mode, *, present: bool = False) -> go.Figure:
    """Return one bar a row, cut into codes, scales and what else there is; its total beside it."""
    layout = plotly_layout(mode, present=present)
    figure = go.Figure(layout=layout | {"template": "none", "barmode": "stack"})
    labels = [label for label, _item in rows]
    for part, (token, pattern) in _LOOKS.items():
        sizes = [_part_bytes(item, part) for _label, item in rows]
        if not any(sizes):
            continue
        figure.add_bar(
            orientation="h",
            y=labels,
            x=sizes,
            name=_(PART_NAMES[part]),
            marker={"color": COLORS[mode][token], "pattern": {"shape": pattern}},
            customdata=[format_bytes(size, unit) for size in sizes],
            hovertemplate="%{y}: %{customdata}<extra>%{fullData.name}</extra>",
        )
    size = layout["font"]["size"]
    hidden = {"visible": False, "range": [0, 1.16 * max(item.amount for _label, item in rows)]}
    figure.update_layout(
        xaxis=hidden,
        legend=layout["legend"] | {"traceorder": "normal"},
        yaxis=layout["yaxis"] | {"autorange": "reversed", "showgrid": False, "fixedrange": True},
        height=round(len(rows) * size * 1.75) + 3 * size,
        bargap=0.25,
        annotations=[_total(label, item, unit) for label, item in rows],
        margin={"l": 8, "r": 8, "t": 32, "b": 8},
    )
    return figure


def _part_bytes(item: Item, part: str) -> int:
    return sum(child.num_bytes for child in item.children if child.name == part)


def _total(label: str, item: Item, unit: ByteUnit) -> dict[str, Any]:
    text = " " + format_bytes(item.amount, unit)
    return {"x": item.amount, "y": label, "text": text, "xanchor": "left", "showarrow": False}


def bytes_alt(rows: Rows, unit: ByteUnit) -> str:
    """Return the picture in words."""
    parts = [f"{label} {format_bytes(item.amount, unit)}" for label, item in rows]
    return _("Bytes of the weights with their scales: {parts}.").format(parts=_(", ").join(parts))


def bytes_table(rows: Rows, unit: ByteUnit) -> Mapping[str, Sequence[object]]:
    """Return one row a bar."""
    columns = {
        _(PART_NAMES[part]): [format_bytes(_part_bytes(item, part), unit) for _label, item in rows]
        for part in _LOOKS
    }
    totals = [format_bytes(item.amount, unit) for _label, item in rows]
    return {_("weights in"): [label for label, _item in rows], **columns, _("total"): totals}
