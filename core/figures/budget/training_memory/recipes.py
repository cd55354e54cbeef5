"""Bytes for each parameter, one bar a recipe."""

from collections.abc import Sequence
from typing import Final

from core.budget.item import Item
from core.figures.budget.stacked_parts import row_axes
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import _

_LOOKS: Final = {
    "weights": ("weights", ""),
    "master weights": ("weights", "/"),
    "gradients": ("gradients", ""),
    "gradient sums": ("gradients", "/"),
    "optimizer": ("optimizer", ""),
}
_ROW_HEIGHT: Final = {False: 1.9, True: 1.45}  # of the text's size; on a projector True
Rows = Sequence[tuple[str, Item]]  # a translated label and the bytes for each parameter


def recipes_picture(rows: Rows, chosen: int, look: Look) -> Picture:
    """Return one bar a recipe with its sum beside it; the chosen one's is bold.

    Args:
        rows: The recipes.
        chosen: The place of the one in use.
        look: How the reader wants to see.
    """
    layout, drawing = look.layout(), Drawing()
    for name, (meaning, pattern) in _LOOKS.items():
        sizes = [_part(each, name) for _label, each in rows]
        if any(sizes):
            drawing.bar(
                orientation="h",
                x=sizes,
                y=[label for label, _each in rows],
                name=_(name),
                marker={"color": look.color(meaning), "pattern": {"shape": pattern}},
                hovertemplate="%{x:.3g} B<extra>%{fullData.name}</extra>",
            )
    for place, (label, each) in enumerate(rows):
        text = _("{count} B").format(count=f"{each.amount:.4g}")
        text = f" <b>{text} ◄</b>" if place == chosen else f" {text}"
        drawing.note(x=each.amount, y=label, xanchor="left", text=text)
    size = layout["font"]["size"]
    frame = {
        "legend": layout["legend"] | {"traceorder": "normal"},
        "height": round(len(rows) * size * _ROW_HEIGHT[look.present]) + 3 * size,
        "margin": {"l": 8, "r": 8, "t": 2 * size, "b": 8},
        "barmode": "stack",
        "bargap": 0.25,
    }
    axes = row_axes(look, 1.12 * max(each.amount for _label, each in rows))
    figure = drawing.figure(layout | axes | frame)
    return Picture(figure=figure, alt=_sentence(rows), table=_table(rows))


def _part(each: Item, name: str) -> float:
    return sum(part.amount for part in each.children if part.name == name)


def _sentence(rows: Rows) -> str:
    parts = [
        _("{name} {count} B").format(name=label, count=f"{each.amount:.4g}") for label, each in rows
    ]
    return _("Bytes for each parameter, activations apart: {parts}.").format(
        parts=_(", ").join(parts)
    )


def _table(rows: Rows) -> Table:
    """Return one row a recipe, in bytes for each parameter."""
    columns = {_(name): [_part(each, name) for _label, each in rows] for name in _LOOKS}
    return {
        _("recipe"): [label for label, _each in rows],
        **columns,
        _("total"): [each.amount for _label, each in rows],
    }
