"""One number in many formats: rows of bits, aligned where the exponent meets the mantissa."""

from collections.abc import Mapping, Sequence
from typing import Final

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.facts.explain import FIELD_ORDER, Field
from core.figures.dtypes.bit_layouts.bit_row_words import BitRow, error_text
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import N_, _

ROW_PX: Final = 40
DENSE_ROW_PX: Final = 19
MAX_TALL_ROWS: Final = 9
FAINT: Final = 0.18  # how much of the field's colour a 0 keeps
FIELD_NAMES: Final[Mapping[Field, str]] = {
    "sign": N_("sign"),
    "exponent": N_("exponent"),
    "mantissa": N_("mantissa"),
}


def bit_rows_figure(
    rows: Sequence[BitRow], mode: Mode = "light", *, present: bool = False
) -> go.Figure:
    """Draw a row of cells for each format; a 1 is full, a 0 faint, both carry their digit.

    Raises:
        ValueError: If there are no rows.
    """
    if not rows:
        raise ValueError("rows of bits need at least one format")
    layout = plotly_layout(mode, present=present)
    size = layout["font"]["size"]
    is_dense = len(rows) > MAX_TALL_ROWS
    columns = range(min(row.columns[0] for row in rows), max(row.columns[-1] for row in rows) + 1)
    figure = go.Figure(_cells(rows, columns, mode, size=size, is_dense=is_dense), layout)
    figure.add_trace(_right_axis(rows))
    height = len(rows) * (DENSE_ROW_PX if is_dense else ROW_PX + (size > 15) * 6) + 4 * size
    figure.update_layout(height=height, margin={"l": 8, "r": 8, "t": 2.2 * size, "b": 8})
    figure.update_layout(**_axes(rows, columns, layout, size=min(size, 15 if is_dense else size)))
    figure.add_vline(x=-0.5, line={"color": COLORS[mode]["text"], "width": 2})
    _name_fields(figure, mode, size)
    if pair := upper_half(rows):
        _frame_half(figure, pair, mode)
    return figure


def upper_half(rows: Sequence[BitRow]) -> tuple[int, int] | None:
    """Return the places of float32 and bfloat16 if both are drawn."""
    names = [row.fmt.name for row in rows]
    if "float32" not in names or "bfloat16" not in names:
        return None
    return names.index("float32"), names.index("bfloat16")


def _cells(
    rows: Sequence[BitRow], columns: range, mode: Mode, *, size: int, is_dense: bool
) -> go.Heatmap:
    """Return the cells; each has a whole number for its colour: 2 * field + bit."""
    by_column = [dict(zip(row.columns, _row_cells(row), strict=True)) for row in rows]
    empty = (None, "", "")
    grid = [[cells.get(column, empty) for column in columns] for cells in by_column]
    levels = [shade for field in FIELD_ORDER for shade in _shades(COLORS[mode][field], mode)]
    steps = [
        (place / 6, level) for number, level in enumerate(levels) for place in (number, number + 1)
    ]
    return go.Heatmap(
        x=list(columns),
        y=list(range(len(rows))),
        z=[[cell[0] for cell in line] for line in grid],
        text=[[cell[1] for cell in line] for line in grid],
        customdata=[[cell[2] for cell in line] for line in grid],
        texttemplate="%{text}",
        textfont={"size": min(size, 13) if is_dense else size},
        hovertemplate="%{customdata}<extra></extra>",
        colorscale=steps,
        zmin=-0.5,
        zmax=5.5,
        showscale=False,
        xgap=1.5,
        ygap=2 if is_dense else 8,
    )


def _row_cells(row: BitRow) -> list[tuple[int, str, str]]:
    top = row.fmt.bits - 1
    words = _("{format}: bit {number}, {field}")
    return [
        (
            2 * FIELD_ORDER.index(field) + int(bit),
            bit,
            words.format(format=row.fmt.name, number=top - place, field=_(FIELD_NAMES[field])),
        )
        for place, (bit, field) in enumerate(zip(row.bits, row.fields, strict=True))
    ]


def _shades(color: str, mode: Mode) -> tuple[str, str]:
    """Return the colour of a 0 and of a 1."""
    paper = COLORS[mode]["background"]
    parts = zip(_channels(color), _channels(paper), strict=True)
    mixed = [round(FAINT * ink + (1 - FAINT) * ground) for ink, ground in parts]
    return f"rgb({mixed[0]},{mixed[1]},{mixed[2]})", color


def _channels(color: str) -> tuple[int, ...]:
    return tuple(int(color[start : start + 2], 16) for start in (1, 3, 5))


def _right_axis(rows: Sequence[BitRow]) -> go.Scatter:
    """Return an unseen trace: an axis without a trace is not drawn."""
    return go.Scatter(
        x=[None] * len(rows), y=list(range(len(rows))), yaxis="y2", hoverinfo="skip", mode="markers"
    )


def _axes(
    rows: Sequence[BitRow], columns: range, layout: Mapping[str, object], *, size: int
) -> dict[str, object]:
    places = list(range(len(rows)))
    base = {
        "range": [len(rows) - 0.5, -0.5],
        "tickvals": places,
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
        "tickfont": {**layout["font"], "size": size},  # type: ignore[dict-item]
    }
    right = [f" {row.stored} · {error_text(row.trace)}" for row in rows]
    return {
        "xaxis": {
            "visible": False,
            "range": [columns[0] - 0.5, columns[-1] + 0.5],
            "fixedrange": True,
        },
        "yaxis": {**base, "ticktext": [f"{row.fmt.name} " for row in rows]},
        "yaxis2": {**base, "overlaying": "y", "side": "right", "ticktext": right},
        "showlegend": False,
    }


def _name_fields(figure: go.Figure, mode: Mode, size: int) -> None:
    """Write the names of the fields above the first row, on their side of the boundary."""
    for field, x, anchor, text in (
        ("exponent", -0.6, "right", _("sign, exponent ◂")),
        ("mantissa", -0.4, "left", _("▸ mantissa")),
    ):
        figure.add_annotation(
            x=x,
            y=1,
            xref="x",
            yref="paper",
            text=f"<b>{text}</b>",
            showarrow=False,
            xanchor=anchor,
            yanchor="bottom",
            font={"color": COLORS[mode][field], "size": size},
        )


def _frame_half(figure: go.Figure, pair: tuple[int, int], mode: Mode) -> None:
    """Frame the 16 bits that float32 and bfloat16 share."""
    top, bottom = min(pair), max(pair)
    figure.add_shape(
        type="rect",
        x0=-9.5,
        x1=6.5,
        y0=top - 0.5,
        y1=bottom + 0.5,
        line={"color": COLORS[mode]["accent"], "width": 3, "dash": "dot"},
    )
