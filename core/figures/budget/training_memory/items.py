"""A budget as an icicle: each line lies below the line that it is a part of, as wide as its bytes.

Of moments, one of which is the peak, only the largest is drawn: the others are not there with it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from core.budget.item import Item
from core.figures.budget.stacked_parts import LOOKS
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import _
from core.units import format_percent

SEPARATOR: Final = "/"
_SMALLEST: Final = 0.004  # of the whole: narrower lines are left to the table
_OWN_LINE: Final = 0.04  # of the whole: from there on a name stands in its box
_LEVEL_PX: Final = 58
_LARGER: Final = {False: 1, True: 1.35}  # on a projector True


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

    @property
    def name(self) -> str:
        """Translated."""
        return _("one device") if self.level == 0 else _(self.item.name)


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


def items_picture(root: Item, chosen: str, look: Look) -> Picture:
    """Return the icicle; a click on a box gives its path as `customdata[0]`.

    Args:
        root: What one device holds.
        chosen: Path of the box that stands out.
        look: How the reader wants to see.
    """
    layout, drawing, found = look.layout(), Drawing(), boxes(root)
    shown = [box for box in found if box.item.amount >= _SMALLEST * root.amount]
    depth = max(box.level for box in shown) + 1
    for level in range(depth):
        row = [box for box in shown if box.level == level]
        drawing.bar(**_row(row, root.amount, look), marker=_marker(row, chosen, look))
    axes = {
        "xaxis": {"visible": False, "range": [0, root.amount], "fixedrange": True},
        "yaxis": {"visible": False, "range": [depth - 0.5, -0.5], "fixedrange": True},
        "height": round(depth * _LEVEL_PX * _LARGER[look.present]),
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "barmode": "overlay",
        "bargap": 0.06,
        "showlegend": False,
        "uniformtext": {"minsize": round(layout["font"]["size"] * 0.8), "mode": "hide"},
    }
    figure = drawing.figure(layout | axes)
    return Picture(figure=figure, alt=_sentence(found, look), table=_table(found, look))


def _row(row: Sequence[Box], whole: float, look: Look) -> dict[str, Any]:
    """Return the bars of one level."""
    sizes = [look.format_bytes(box.item.amount) for box in row]
    wide = [box.item.amount > _OWN_LINE * whole for box in row]
    return {
        "orientation": "h",
        "x": [box.item.amount for box in row],
        "base": [box.start for box in row],
        "y": [box.level for box in row],
        "text": [
            f"<b>{box.name}</b><br>{size}" if has_room else ""
            for box, size, has_room in zip(row, sizes, wide, strict=True)
        ],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "insidetextfont": {"color": look.color("text")},
        "customdata": [
            [box.path, box.name, size, format_percent(box.item.amount / whole)]
            for box, size in zip(row, sizes, strict=True)
        ],
        "hovertemplate": "%{customdata[1]}: %{customdata[2]} (%{customdata[3]})<extra></extra>",
    }


def _marker(row: Sequence[Box], chosen: str, look: Look) -> dict[str, Any]:
    """Return pale fills with a full edge, so that names can be read; the chosen one stands out."""
    is_chosen = [box.path == chosen for box in row]
    hues = [look.color(box.meaning) for box in row]
    pairs = list(zip(hues, is_chosen, strict=True))
    return {
        "color": [_tint(hue, 0.5 if stands_out else 0.25) for hue, stands_out in pairs],
        "line": {
            "color": [look.color("text") if stands_out else hue for hue, stands_out in pairs],
            "width": [3 if stands_out else 1 for stands_out in is_chosen],
        },
    }


def _tint(hue: str, opacity: float) -> str:
    red, green, blue = (int(hue[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def _sentence(found: Sequence[Box], look: Look) -> str:
    """Name the largest lines that have no parts."""
    leaves = [box.item for box in found if not box.item.children]
    largest = sorted(leaves, key=lambda leaf: -leaf.amount)[:4]
    parts = [
        _("{name} {size}").format(name=_(leaf.name), size=look.format_bytes(leaf.amount))
        for leaf in largest
    ]
    return _("{total} taken apart into {count} lines; the largest: {parts}.").format(
        total=look.format_bytes(found[0].item.amount), count=len(leaves), parts=_(", ").join(parts)
    )


def _table(found: Sequence[Box], look: Look) -> Table:
    """Return one row a box, indented by its level."""
    whole = found[0].item.amount
    return {
        _("item"): ["· " * box.level + box.name for box in found],
        _("bytes"): [look.format_bytes(box.item.amount) for box in found],
        _("of the whole"): [format_percent(box.item.amount / whole) for box in found],
        _("formula"): [f"`{box.item.formula}`" for box in found],
    }
