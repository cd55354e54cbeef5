"""Two layers, product by product: one bar each, forward and backward."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from core.budget.item import Item
from core.figures.budget.flops_frame import hatched, joined, rows_of_bars
from core.figures.drawing import Drawing
from core.figures.picture import Look
from core.figures.theme import COLORS, Mode
from core.language import _
from core.units import format_flops


def two_layer_bars(step: Item, mode: Mode, *, present: bool = False) -> go.Figure:
    """Return one bar a product, in the order in which they run.

    Args:
        step: What `core.budget.by_hand.rules.two_layer_flops` gave.
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    drawing, color = Drawing(), COLORS[mode]
    for phase, pattern in zip(step.children, ("", "/"), strict=True):
        drawing.bar(
            orientation="h",
            x=[part.amount for part in phase.children],
            y=[part.name for part in phase.children],
            name=f"{_(phase.name)} · {format_flops(phase.amount)}",
            marker={"color": color[phase.name], "pattern": hatched(pattern)},
            customdata=[[part.formula, part.substituted] for part in phase.children],
            hovertemplate="%{customdata[0]}<br>= %{customdata[1]}<extra></extra>",
        )
    products = [part for phase in step.children for part in phase.children]
    for part in products:
        text = f" {format_flops(part.amount)}"
        drawing.note(x=part.amount, y=part.name, text=text, xanchor="left")
    hidden = {"visible": False, "range": [0, 1.3 * max(part.amount for part in products)]}
    return rows_of_bars(drawing, Look(mode=mode, present=present), num_rows=len(products), x=hidden)


def two_layer_alt(step: Item) -> str:
    """Return the picture in words."""
    parts = [
        f"{part.name} {format_flops(part.amount)}"
        for phase in step.children
        for part in phase.children
    ]
    return _("The products of two layers: {parts}.").format(parts=joined(parts))


def two_layer_table(step: Item) -> Mapping[str, Sequence[object]]:
    """Return one row a product."""
    rows = [(phase, part) for phase in step.children for part in phase.children]
    return {
        _("phase"): [_(phase.name) for phase, _part in rows],
        _("product"): [part.name for _phase, part in rows],
        _("formula"): [part.formula for _phase, part in rows],
        _("FLOPs"): [f"{part.amount:,}" for _phase, part in rows],
    }
