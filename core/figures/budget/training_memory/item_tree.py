"""A budget as an icicle: each line lies below the line that it is a part of, as wide as its bytes.

Of moments, one of which is the peak, only the largest is drawn: the others are not there with it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import plotly.graph_objects as go

from core.budget.item import Item
from core.figures.budget.stacked_parts import LOOKS
from core.figures.drawing import Drawing
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _
from core.units import ByteUnit, format_bytes, format_percent

SEPARATOR: Final = "/"
_SMALLEST: Final = 0.004  # of the whole: narrower lines are left to the table
_OWN_LINE: Final = 0.04  # of the whole: from there on a name stands in its box
_LEVEL_PX: Final = 58


@dataclass(frozen=True, slots=True)
class Box:
    """One item in its place.

    Attributes:
        path: Names from the root down, joined by "/": "step peak/end of forward"; "" is the root.
        item: What it is.
        level: 0 is the root.
        start: Where it begins, in bytes.
        meaning: Key of its colour.
        pattern: Its pattern.
    """

    path: str
    item: Item
    level: int
    start: float
    meaning: str
    pattern: str


def boxes(root: Item) -> tuple[Box, ...]:
    """Return every item that counts towards the root, parents first."""
    return tuple(_walk(Box("", root, 0, 0, "muted", "")))


def _walk(box: Box) -> Iterator[Box]:
    yield box
    start = box.start
    for part in counted(box.item):
        meaning, pattern = LOOKS.get(part.name, (box.meaning, box.pattern))
        path = f"{box.path}{SEPARATOR}{part.name}" if box.path else part.name
        yield from _walk(Box(path, part, box.level + 1, start, meaning, pattern))
        start += part.amount


def counted(item: Item) -> tuple[Item, ...]:
    """Return the children that make the amount: all, or of a maximum the largest alone."""
    if item.combine == "max" and item.children:
        return (max(item.children, key=lambda part: part.amount),)
    return item.children


def tree_figure(
    root: Item, chosen: str, unit: ByteUnit, mode: Mode, *, present: bool = False
) -> go.Figure:
    """Return the icicle; a click on a box gives its path as `customdata[0]`."""
    layout = plotly_layout(mode, present=present)
    color = COLORS[mode]
    found = boxes(root)
    shown = [box for box in found if box.item.amount >= _SMALLEST * root.amount]
    depth = max(box.level for box in shown) + 1
    drawing = Drawing()
    for level in range(depth):
        row = [box for box in shown if box.level == level]
        drawing.bar(**_row(row, root, chosen, unit, color))
    scale = 1.35 if present else 1
    axes = {
        "xaxis": {"visible": False, "range": [0, root.amount], "fixedrange": True},
        "yaxis": {"visible": False, "range": [depth - 0.5, -0.5], "fixedrange": True},
        "height": round(depth * _LEVEL_PX * scale),
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "template": "none",
        "barmode": "overlay",
        "bargap": 0.06,
        "showlegend": False,
        "uniformtext": {"minsize": round(layout["font"]["size"] * 0.8), "mode": "hide"},
    }
    return drawing.figure(layout | axes)


def _row(
    row: Sequence[Box], root: Item, chosen: str, unit: ByteUnit, color: Mapping[str, str]
) -> dict[str, Any]:
    """Return the bars of one level."""
    sizes = [format_bytes(box.item.amount, unit) for box in row]
    names = [_name(box) for box in row]
    wide = [box.item.amount > _OWN_LINE * root.amount for box in row]
    return {
        "orientation": "h",
        "x": [box.item.amount for box in row],
        "base": [box.start for box in row],
        "y": [box.level for box in row],
        "text": [
            f"<b>{name}</b><br>{size}" if has_room else ""
            for name, size, has_room in zip(names, sizes, wide, strict=True)
        ],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "insidetextfont": {"color": color["text"]},
        "customdata": [
            [box.path, name, size, format_percent(box.item.amount / root.amount)]
            for box, name, size in zip(row, names, sizes, strict=True)
        ],
        "hovertemplate": "%{customdata[1]}: %{customdata[2]} (%{customdata[3]})<extra></extra>",
        "marker": _marker(row, chosen, color),
    }


def _marker(row: Sequence[Box], chosen: str, color: Mapping[str, str]) -> dict[str, Any]:
    """Return pale fills with a full edge, so that names can be read; the chosen one stands out."""
    tints = [_tint(color[box.meaning], 0.5 if box.path == chosen else 0.25) for box in row]
    edges = [color["text"] if box.path == chosen else color[box.meaning] for box in row]
    return {
        "color": tints,
        "line": {"color": edges, "width": [3 if box.path == chosen else 1 for box in row]},
    }


def _tint(hue: str, opacity: float) -> str:
    red, green, blue = (int(hue[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def _name(box: Box) -> str:
    return _("one device") if box.level == 0 else _(box.item.name)


def tree_alt(root: Item, unit: ByteUnit) -> str:
    """Return the icicle in words: the largest lines that have no parts."""
    leaves = [box.item for box in boxes(root) if not box.item.children]
    largest = sorted(leaves, key=lambda leaf: -leaf.amount)[:4]
    parts = [
        _("{name} {size}").format(name=_(leaf.name), size=format_bytes(leaf.amount, unit))
        for leaf in largest
    ]
    return _("{total} taken apart into {count} lines; the largest: {parts}.").format(
        total=format_bytes(root.amount, unit), count=len(leaves), parts=_(", ").join(parts)
    )


def tree_table(root: Item, unit: ByteUnit) -> Mapping[str, Sequence[object]]:
    """Return one row a box, indented by its level."""
    found = boxes(root)
    return {
        _("item"): ["· " * box.level + _name(box) for box in found],
        _("bytes"): [format_bytes(box.item.amount, unit) for box in found],
        _("of the whole"): [format_percent(box.item.amount / root.amount) for box in found],
        _("formula"): [f"`{box.item.formula}`" for box in found],
    }
