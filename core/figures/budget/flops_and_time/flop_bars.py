"""The FLOPs of one step: a bar each for forward, backward and extra work, cut into components."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from core.budget.item import Item
from core.figures.budget.flops_frame import hatched, joined, rows_of_bars
from core.figures.drawing import Drawing
from core.figures.picture import Look
from core.figures.theme import COLORS, Mode
from core.language import N_, _
from core.units import format_flops, format_percent

LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    "attention projections": ("attention", ""),
    "attention scores": ("attention", "/"),
    "windowed scores": ("attention", "x"),
    "feed-forward": ("feed_forward", ""),
    "experts": ("experts", ""),
    "shared experts": ("experts", "/"),
    "router": ("norms", ""),
    "head": ("embedding", ""),
    "scores again": ("attention", "\\"),
    "padded values": ("temporary", "."),
    "logits again": ("embedding", "\\"),
    "blocks again": ("norms", "\\"),
}
"""Component -> its colour and its hatching."""
PHASES: Final = (N_("forward"), N_("backward"), N_("extra work"))
Row = tuple[str, str, float]  # phase, component, FLOPs


def flop_rows(step: Item) -> Iterator[Row]:
    """Yield every component of every phase; the backward pass is twice the forward pass."""
    forward = step.child("forward")
    for factor, phase in ((1, "forward"), (2, "backward")):
        for part in forward.children:
            yield phase, part.name, factor * part.amount
    for child in step.children[2:]:
        for part in child.children:
            yield "extra work", part.name, part.amount


def flop_bars(step: Item, mode: Mode, *, present: bool = False) -> go.Figure:
    """Return one bar a phase, its total beside it.

    Args:
        step: What `core.budget.compute.step_flops.step_flops` gave, without adapters.
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    drawing = Drawing()
    rows = list(flop_rows(step))
    for name, (token, pattern) in LOOKS.items():
        found = [(phase, amount) for phase, part, amount in rows if part == name]
        if found:
            drawing.bar(
                orientation="h",
                x=[amount for _phase, amount in found],
                y=[_(phase) for phase, _amount in found],
                name=_(name),
                marker={"color": COLORS[mode][token], "pattern": hatched(pattern)},
                customdata=[_told(amount, step) for _phase, amount in found],
                hovertemplate="%{y}: %{customdata}<extra>%{fullData.name}</extra>",
            )
    totals = _totals(rows)
    for phase, amount in totals.items():
        text = f" {format_flops(amount)}"
        drawing.note(x=amount, y=_(phase), text=text, xanchor="left")
    hidden = {"visible": False, "range": [0, 1.22 * max(totals.values())]}
    num_rows = len(totals) + (1 if present else 0.5)
    return rows_of_bars(
        drawing, Look(mode=mode, present=present), num_rows=round(num_rows), x=hidden
    )


def _told(amount: float, step: Item) -> str:
    return f"{format_flops(amount)} · {format_percent(amount / step.amount)}"


def _totals(rows: Sequence[Row]) -> dict[str, float]:
    totals = dict.fromkeys((phase for phase, _part, _amount in rows), 0.0)
    for phase, _part, amount in rows:
        totals[phase] += amount
    return totals


def flop_bars_alt(step: Item) -> str:
    """Return the picture in words: each phase, and the largest component."""
    rows = list(flop_rows(step))
    phases = [f"{_(phase)} {format_flops(amount)}" for phase, amount in _totals(rows).items()]
    _phase, part, amount = max(rows, key=lambda row: row[2])
    return _("One step: {phases}. The largest part is {part} with {share} of it.").format(
        phases=joined(phases), part=_(part), share=format_percent(amount / step.amount)
    )


def flop_bars_table(step: Item) -> Mapping[str, Sequence[object]]:
    """Return one row a component and phase."""
    rows = list(flop_rows(step))
    return {
        _("phase"): [_(phase) for phase, _part, _amount in rows],
        _("component"): [_(part) for _phase, part, _amount in rows],
        _("FLOPs"): [format_flops(amount) for _phase, _part, amount in rows],
        _("share"): [format_percent(amount / step.amount) for _phase, _part, amount in rows],
    }
