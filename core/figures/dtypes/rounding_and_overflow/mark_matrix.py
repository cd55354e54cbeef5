"""Rows by columns with a mark in each cell: its shape says as much as its colour."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.figures.theme import COLORS, Mode, plotly_layout


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """How one kind of mark looks.

    Attributes:
        words: Translated, for the legend.
        symbol: A marker of plotly; a single sign such as "?" is written instead.
        meaning: A name of `theme.COLORS`.
    """

    words: str
    symbol: str
    meaning: str

    @property
    def is_sign(self) -> bool:
        """Whether the symbol is written as it is."""
        return len(self.symbol) == 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """What stands in one cell.

    Attributes:
        kind: A key of the looks.
        hover: Translated text shown on hover.
    """

    kind: str
    hover: str


Marks = Mapping[tuple[str, str], Mark]
ROW_PX: Final = 14
SLANTED_PX: Final = 5  # a slanted name needs about this much height for each letter


def mark_matrix(
    marks: Marks,
    looks: Mapping[str, Look],
    mode: Mode = "light",
    *,
    present: bool = False,
    lit: str | None = None,
    slanted: bool = False,
) -> go.Figure:
    """Draw the marks, rows and columns in the order in which they come.

    Args:
        marks: (row, column) -> what stands there; the names are shown as they are.
        looks: The kinds of marks, in the order of the legend.
        mode: "light" or "dark".
        present: Larger text for a projector.
        lit: A column to lay a band under.
        slanted: Write the names of the columns slantwise, for many of them.
    """
    layout = plotly_layout(mode, present=present)
    size = int(layout["font"]["size"])
    rows, columns = _names(marks, 0), _names(marks, 1)
    figure = go.Figure(layout=layout)
    for kind, look in looks.items():
        cells = [(pair, mark) for pair, mark in marks.items() if mark.kind == kind]
        figure.add_trace(_trace(cells, look, mode, size))
        if cells and look.is_sign:
            figure.add_trace(_legend_of_sign(look, COLORS[mode][look.meaning]))
    if lit in columns:
        _lay_band(figure, columns.index(lit), COLORS[mode]["surface"])
    _set_axes(figure, rows, columns, slanted=slanted)
    slant = SLANTED_PX * max(map(len, columns), default=0) * size // 15 if slanted else 0
    figure.update_layout(
        height=len(rows) * (ROW_PX + size // 2) + 4 * size + slant,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        legend={"y": -0.02, "yanchor": "top"},
    )
    return figure


def _trace(
    cells: Sequence[tuple[tuple[str, str], Mark]], look: Look, mode: Mode, size: int
) -> go.Scatter:
    color = COLORS[mode][look.meaning]
    return go.Scatter(
        x=[column for (_row, column), _mark in cells],
        y=[row for (row, _column), _mark in cells],
        mode="text" if look.is_sign else "markers",
        text=[look.symbol] * len(cells),
        textfont={"color": color, "size": size + 2},
        marker={
            "symbol": "circle" if look.is_sign else look.symbol,
            "color": color,
            "size": size,
            "line": {"color": color, "width": 2},
        },
        name=look.words,
        hovertext=[mark.hover for _pair, mark in cells],
        hoverinfo="text",
        legendgroup=look.words,
        showlegend=bool(cells) and not look.is_sign,
    )


def _legend_of_sign(look: Look, color: str) -> go.Scatter:
    """Return an entry that names a sign: plotly's own shows "Aa" for all that is written."""
    return go.Scatter(
        x=[None],
        y=[None],
        mode="markers",
        marker={"color": "rgba(0,0,0,0)"},
        name=f'<b style="color:{color}">{look.symbol}</b> {look.words}',
        legendgroup=look.words,
        hoverinfo="skip",
    )


def _lay_band(figure: go.Figure, place: int, color: str) -> None:
    figure.add_vrect(x0=place - 0.5, x1=place + 0.5, fillcolor=color, layer="below", line_width=0)


def _set_axes(
    figure: go.Figure, rows: Sequence[str], columns: Sequence[str], *, slanted: bool
) -> None:
    figure.update_xaxes(
        type="category", categoryorder="array", categoryarray=columns, side="top",
        showgrid=False, fixedrange=True, range=[-0.5, len(columns) - 0.5],
        tickmode="array", tickvals=list(columns), tickangle=-35 if slanted else 0,
    )  # fmt: skip
    figure.update_yaxes(
        type="category", categoryorder="array", categoryarray=rows, fixedrange=True,
        range=[len(rows) - 0.5, -0.5], tickmode="array", tickvals=list(rows),
    )  # fmt: skip


def _names(marks: Marks, part: int) -> list[str]:
    """Return rows or columns, each once, in the order in which they come."""
    return list(dict.fromkeys(pair[part] for pair in marks))
