"""Bytes for each parameter, one bar a recipe."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import plotly.graph_objects as go

from core.budget.item import Item
from core.figures.drawing import Drawing
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _

_LOOKS: Final = {
    "weights": ("weights", ""),
    "master weights": ("weights", "/"),
    "gradients": ("gradients", ""),
    "gradient sums": ("gradients", "/"),
    "optimizer": ("optimizer", ""),
}
Rows = Sequence[tuple[str, Item]]  # a translated label and the bytes for each parameter


def recipe_figure(rows: Rows, chosen: int, mode: Mode, *, present: bool = False) -> go.Figure:
    """Return one bar a recipe with its sum beside it; the chosen one's is bold.

    Args:
        rows: The recipes.
        chosen: The place of the one in use.
        mode: Light or dark.
        present: Whether it is shown on a wall.
    """
    layout = plotly_layout(mode, present=present)
    drawing = Drawing()
    labels = [label for label, _each in rows]
    for name, (meaning, pattern) in _LOOKS.items():
        sizes = [_part(each, name) for _label, each in rows]
        if any(sizes):
            drawing.bar(
                orientation="h",
                x=sizes,
                y=labels,
                name=_(name),
                marker={"color": COLORS[mode][meaning], "pattern": {"shape": pattern}},
                hovertemplate="%{x:.3g} B<extra>%{fullData.name}</extra>",
            )
    _write_sums(drawing, rows, chosen)
    size = layout["font"]["size"]
    most = max(each.amount for _label, each in rows)
    axes: dict[str, Any] = {
        "xaxis": {"visible": False, "range": [0, 1.12 * most], "fixedrange": True},
        "yaxis": layout["yaxis"]
        | {"autorange": "reversed", "showgrid": False, "fixedrange": True, "automargin": True},
        "legend": layout["legend"] | {"traceorder": "normal"},
        "height": round(len(rows) * size * (1.45 if present else 1.9)) + 3 * size,
        "margin": {"l": 8, "r": 8, "t": 2 * size, "b": 8},
    }
    return drawing.figure(layout | axes | {"template": "none", "barmode": "stack", "bargap": 0.25})


def _write_sums(drawing: Drawing, rows: Rows, chosen: int) -> None:
    for place, (label, each) in enumerate(rows):
        drawing.note(
            x=each.amount, y=label, xanchor="left", text=_sum(each, is_chosen=place == chosen)
        )


def _part(each: Item, name: str) -> float:
    return sum(part.amount for part in each.children if part.name == name)


def _sum(each: Item, *, is_chosen: bool) -> str:
    text = _("{count} B").format(count=f"{each.amount:.4g}")
    return f" <b>{text} ◄</b>" if is_chosen else f" {text}"


def recipe_alt(rows: Rows) -> str:
    """Return the picture in words."""
    parts = [
        _("{name} {count} B").format(name=label, count=f"{each.amount:.4g}") for label, each in rows
    ]
    return _("Bytes for each parameter, activations apart: {parts}.").format(
        parts=_(", ").join(parts)
    )


def recipe_table(rows: Rows) -> Mapping[str, Sequence[object]]:
    """Return one row a recipe, in bytes for each parameter."""
    columns = {_(name): [_part(each, name) for _label, each in rows] for name in _LOOKS}
    return {
        _("recipe"): [label for label, _each in rows],
        **columns,
        _("total"): [each.amount for _label, each in rows],
    }
