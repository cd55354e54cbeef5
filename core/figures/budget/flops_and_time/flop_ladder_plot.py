"""The ladder of compute: from a product on a laptop to the largest training runs."""

from collections.abc import Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from core.budget.item import Item
from core.figures.budget.flops_frame import joined, rows_of_bars, scientific
from core.figures.drawing import Drawing
from core.figures.picture import Look
from core.figures.theme import COLORS, Mode
from core.language import N_, _
from core.units import format_flops

_SYMBOLS: Final = {"exact": "circle", "measured": "square", "estimated": "diamond"}
_KINDS: Final = {
    "exact": N_("exact"), "measured": N_("measured"), "estimated": N_("estimated")
}  # fmt: skip
_ROW_HEIGHT: Final = 1.85
_FIRST, _LAST = 6.5, 29.0  # powers of ten


def ladder_plot(
    rungs: Sequence[Item], mode: Mode, *, present: bool = False, last: int | None = None
) -> go.Figure:
    """Return a mark a rung on a scale of powers of ten, the smallest at the bottom.

    Args:
        rungs: Amounts of compute, smallest first.
        mode: "light" or "dark".
        present: Larger text for a projector.
        last: How many rungs are climbed already; all unless said otherwise.
    """
    drawing = Drawing()
    shown = list(rungs)[:last]
    for kind in _SYMBOLS:
        found = [rung for rung in shown if rung.kind == kind]
        if found:
            _draw_rungs(drawing, kind, found, COLORS[mode])
    size = 18 if present else 15
    figure = rows_of_bars(
        drawing,
        Look(mode=mode, present=present),
        num_rows=len(shown),
        height=round((len(shown) * _ROW_HEIGHT + 4) * size),
        x=_across(present=present),
    )
    order = [_(rung.name) for rung in shown]
    figure.layout.yaxis.update(
        autorange=None, categoryorder="array", categoryarray=order, range=[-0.6, len(order) - 0.4]
    )
    return figure


def _draw_rungs(
    drawing: Drawing, kind: str, rungs: Sequence[Item], color: Mapping[str, str]
) -> None:
    """Draw the rungs of one kind: exact, measured or estimated."""
    drawing.scatter(
        x=[rung.amount for rung in rungs],
        y=[_(rung.name) for rung in rungs],
        mode="markers+text",
        name=_(_KINDS[kind]),
        marker={"color": color[kind], "symbol": _SYMBOLS[kind], "size": 13},
        text=[f"  {scientific(rung.amount)}" for rung in rungs],
        textposition="middle right",
        customdata=[[format_flops(rung.amount), _(rung.source)] for rung in rungs],
        hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
    )


def _across(*, present: bool) -> dict[str, object]:
    powers = range(9, 28, 6 if present else 3)
    return {
        "type": "log",
        "range": [_FIRST, _LAST],
        "tickvals": [10.0**power for power in powers],
        "ticktext": [f"10<sup>{power}</sup>" for power in powers],
        "title": _("FLOPs"),
    }


def ladder_alt(rungs: Sequence[Item]) -> str:
    """Return the picture in words."""
    return _("From small to large: {rungs}.").format(
        rungs=joined([f"{_(rung.name)} {scientific(rung.amount)}" for rung in rungs])
    )


def ladder_table(rungs: Sequence[Item]) -> Mapping[str, Sequence[object]]:
    """Return one row a rung."""
    return {
        _("what"): [_(rung.name) for rung in rungs],
        _("FLOPs"): [scientific(rung.amount, 4) for rung in rungs],
        _("kind"): [_(_KINDS[rung.kind]) for rung in rungs],
        _("source"): [_(rung.source) for rung in rungs],
    }
