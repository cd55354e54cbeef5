"""Six rounding modes by four overflow rules: what each pair makes of one number."""

from collections.abc import Mapping
from typing import Any, Final

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.cast.cast_trace import CastTrace
from core.dtypes.rounding import OVERFLOWS, ROUNDINGS, Overflow, Rounding
from core.figures.drawing import Drawing
from core.figures.dtypes.rounding_and_overflow.cast_words import (
    LAMPS,
    OVERFLOW_NAMES,
    ROUNDING_NAMES,
    digits,
    outcome_words,
)
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _

Grid = Mapping[tuple[Rounding, Overflow], CastTrace]
ROW_PX: Final = 34


def cast_modes(
    grid: Grid, chosen: tuple[Rounding, Overflow], mode: Mode = "light", *, present: bool = False
) -> go.Figure:
    """Draw a field of results, a row a mode and a column a rule; the chosen pair is framed.

    Args:
        grid: (rounding, overflow) -> what the number becomes.
        chosen: The pair in force.
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    drawing, colors = Drawing(), COLORS[mode]
    for (rounding, overflow), trace in grid.items():
        x, y = OVERFLOWS.index(overflow), ROUNDINGS.index(rounding)
        lamp = LAMPS[trace.outcome]
        is_chosen = (rounding, overflow) == chosen
        drawing.shape(
            type="rect", x0=x - 0.47, x1=x + 0.47, y0=y - 0.42, y1=y + 0.42, layer="below",
            fillcolor=colors["surface"],
            line={"color": colors["accent" if is_chosen else lamp.color],
                  "width": 5 if is_chosen else 1.5},
        )  # fmt: skip
    _add_results(drawing, grid, mode)
    return drawing.figure(_layout(mode, present=present))


def _add_results(drawing: Drawing, grid: Grid, mode: Mode) -> None:
    cells = list(grid.items())
    drawing.scatter(
        x=[OVERFLOWS.index(overflow) for (_rounding, overflow), _trace in cells],
        y=[ROUNDINGS.index(rounding) for (rounding, _overflow), _trace in cells],
        mode="text",
        text=[
            f"{LAMPS[trace.outcome].sign} <b>{digits(trace.result, 8)}</b>" for _, trace in cells
        ],
        textfont={"color": COLORS[mode]["text"]},
        hovertext=[outcome_words(trace) for _pair, trace in cells],
        hoverinfo="text",
    )


def _layout(mode: Mode, *, present: bool) -> dict[str, Any]:
    """Return the layout: a column a rule, named above, and a row a mode."""
    base = plotly_layout(mode, present=present)
    size = int(base["font"]["size"])
    plain = {"showgrid": False, "zeroline": False, "fixedrange": True}
    return {
        **base,
        "height": len(ROUNDINGS) * (ROW_PX + size // 2) + 3 * size,
        "showlegend": False,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "xaxis": {
            **base["xaxis"],
            **plain,
            "side": "top",
            "range": [-0.5, len(OVERFLOWS) - 0.5],
            "tickvals": list(range(len(OVERFLOWS))),
            "ticktext": [_(OVERFLOW_NAMES[each]) for each in OVERFLOWS],
        },
        "yaxis": {
            **base["yaxis"],
            **plain,
            "range": [len(ROUNDINGS) - 0.5, -0.5],
            "tickvals": list(range(len(ROUNDINGS))),
            "ticktext": [_(ROUNDING_NAMES[each]) for each in ROUNDINGS],
        },
    }


def modes_alt(grid: Grid, said: str, format_name: str) -> str:
    """Return the picture as sentences: how many different results, and which."""
    results = dict.fromkeys(digits(trace.result) for trace in grid.values())
    if len(results) == 1:
        return _(
            "{number} in {format} under six rounding modes and four overflow rules: "
            "{result} every time."
        ).format(number=said, format=format_name, result=next(iter(results)))
    return _(
        "{number} in {format} under six rounding modes and four overflow rules: "
        "{count} different results: {results}."
    ).format(number=said, format=format_name, count=len(results), results=_(", ").join(results))


def modes_table(grid: Grid) -> dict[str, list[str]]:
    """Return the results, a row a rounding mode and a column an overflow rule."""
    table = {_("rounding"): [_(ROUNDING_NAMES[rounding]) for rounding in ROUNDINGS]}
    for overflow in OVERFLOWS:
        table[_(OVERFLOW_NAMES[overflow])] = [
            digits(grid[rounding, overflow].result, 20) for rounding in ROUNDINGS
        ]
    return table
