"""Telling numbers by those who cast them: what each made of them, differences framed."""

from collections.abc import Sequence
from typing import Final

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.libraries.differences import difference_of, differs
from core.dtypes.libraries.library_records import CastRow
from core.figures.dtypes.rounding_and_overflow.library_casts import (
    LIBRARIES,
    answer_words,
    number_words,
    ours_words,
)
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _

ROW_PX: Final = 13


def cast_grid(rows: Sequence[CastRow], mode: Mode = "light", *, present: bool = False) -> go.Figure:
    """Draw a row a number and a column for the specification, torch and ml_dtypes.

    Args:
        rows: Casts to one format.
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    layout = plotly_layout(mode, present=present)
    colors, size = COLORS[mode], int(layout["font"]["size"])
    figure = go.Figure(layout=layout)
    figure.add_trace(_words(rows, colors["text"], size))
    for x, library in enumerate(LIBRARIES, start=1):
        for y, row in enumerate(rows):
            if differs(row, library):
                figure.add_shape(
                    type="rect", x0=x - 0.47, x1=x + 0.47, y0=y - 0.44, y1=y + 0.44,
                    layer="below", fillcolor=colors["surface"],
                    line={"color": colors["overflow"], "width": 2},
                )  # fmt: skip
    figure.update_layout(
        height=len(rows) * (ROW_PX + size // 2) + 3 * size,
        showlegend=False,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
    )
    figure.update_xaxes(
        range=[-0.5, len(LIBRARIES) + 0.5], side="top", showgrid=False, zeroline=False,
        tickvals=list(range(len(LIBRARIES) + 1)), fixedrange=True,
        ticktext=[_("specification"), *LIBRARIES],
    )  # fmt: skip
    figure.update_yaxes(
        range=[len(rows) - 0.5, -0.5], showgrid=False, zeroline=False, fixedrange=True,
        tickvals=list(range(len(rows))), ticktext=[number_words(row) for row in rows],
    )  # fmt: skip
    return figure


def _words(rows: Sequence[CastRow], color: str, size: int) -> go.Scatter:
    cells = [(0, y, ours_words(row), number_words(row)) for y, row in enumerate(rows)]
    for x, library in enumerate(LIBRARIES, start=1):
        for y, row in enumerate(rows):
            text = answer_words(row, library)
            known = difference_of(row, library)
            is_other = differs(row, library)
            hover = _(known.reason) if known else text
            cells.append((x, y, f"<b>≠ {text}</b>" if is_other else text, hover))
    return go.Scatter(
        x=[cell[0] for cell in cells],
        y=[cell[1] for cell in cells],
        mode="text",
        text=[cell[2] for cell in cells],
        textfont={"color": color, "size": size},
        hovertext=[cell[3] for cell in cells],
        hoverinfo="text",
    )


def casts_alt(format_name: str, rows: Sequence[CastRow]) -> str:
    """Return the picture as a sentence: who leaves the specification, and where."""
    parts = []
    for library in LIBRARIES:
        others = [number_words(row) for row in rows if differs(row, library)]
        if others:
            parts.append(f"{library}: {_('; ').join(others)}")
    if not parts:
        return _("{count} numbers cast to {format}: nobody leaves the specification.").format(
            count=len(rows), format=format_name
        )
    return _("{count} numbers cast to {format}. Other than specified: {where}.").format(
        count=len(rows), format=format_name, where=" | ".join(parts)
    )
