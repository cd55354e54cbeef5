"""The same part of a tensor in two formats: what is stored in each cell, and the shared scales."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.blocks.stored_part import Side
from core.dtypes.rounding import Flags, Floats
from core.figures.dtypes.quantization.block_side import (
    SIDES,
    hovers,
    scale_hover,
    scale_text,
    short_number,
    side_title,
)
from core.figures.theme import COLORS, Mode, plotly_layout

GAP: Final = 0.02  # between the two pictures, as a share of the width
WIDTH: Final = (1 - GAP) / 2
SCALE_WIDTH: Final = 1.9  # cells that the column of scales takes
STRONGEST: Final = 0.85  # shade of the largest number


def block_view(sides: Sequence[Side], mode: Mode, *, present: bool = False) -> go.Figure:
    """Return both formats side by side: one cell a value, with the scales on the left.

    Args:
        sides: Format A and format B, over the same values.
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    layout = plotly_layout(mode, present=present)
    size, num_rows = layout["font"]["size"], len(sides[0].original)
    traces: list[dict[str, Any]] = []
    titles: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    for number, side in enumerate(sides):
        traces += _cells(side, number, mode, size - 2)
        traces += _scales(side, number, mode, size - 2) if side.spans else []
        axes |= _set_axes(side, number)
        titles.append(_title(side, number, mode))
    height = round(num_rows * size * (1.5 if present else 1.4)) + 36
    look = {"template": "none", "showlegend": False, "annotations": titles, "height": height}
    # All at once: plotly checks everything that is there again for each part that is added.
    return go.Figure(traces, layout | look | axes | {"margin": {"l": 4, "r": 4, "t": 36, "b": 4}})


def _axes(number: int) -> dict[str, str]:
    suffix = "" if number == 0 else str(number + 1)
    return {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}


def _cells(side: Side, number: int, mode: Mode, size: int) -> list[dict[str, Any]]:
    colors, shades = COLORS[mode], _shades(side)
    hue = colors[SIDES[number][1]]
    cells = {
        "type": "heatmap",
        "z": shades.round(3),
        "zmin": 0,
        "zmax": 1 / STRONGEST,
        "colorscale": [[0, colors["surface"]], [1, hue]],
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "text": hovers(side),
        "hovertemplate": "%{text}<extra></extra>",
    }
    there, light = np.isfinite(side.codes), _light_text(shades, hue, mode)
    texts = [
        _numbers(side, there & ~light, {"color": colors["text"], "size": size}),
        _numbers(side, there & light, {"color": colors["background"], "size": size}),
    ]
    return [trace | _axes(number) for trace in (cells, *texts)]


def _numbers(side: Side, where: Flags, font: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers of some cells; one colour a trace, as plotly checks each by itself."""
    rows, columns = np.nonzero(where)
    return {
        "type": "scatter",
        "x": columns,
        "y": rows,
        "mode": "text",
        "text": [short_number(value) for value in side.numbers[rows, columns]],
        "textfont": font,
        "hoverinfo": "skip",
    }


def _light_text(shades: Floats, hue: str, mode: Mode) -> Flags:
    """Return where the page's background is easier to read on a cell than the page's text."""
    paper, full = _channels(COLORS[mode]["surface"]), _channels(hue)
    cells = paper + np.nan_to_num(shades)[..., None] * STRONGEST * (full - paper)
    text, background = (_channels(COLORS[mode][name]) for name in ("text", "background"))
    return np.asarray(_contrast(cells, background) > _contrast(cells, text))


def _channels(color: str) -> Floats:
    """Return red, green and blue of "#rrggbb", 0 to 1."""
    return np.array([int(color[place : place + 2], 16) for place in (1, 3, 5)]) / 255


def _contrast(first: Floats, second: Floats) -> Floats:
    """Return the contrast of two colours, 1 to 21 (WCAG 2.1, relative luminance)."""
    lights = [
        np.where(each <= 0.04045, each / 12.92, ((each + 0.055) / 1.055) ** 2.4)
        @ np.array([0.2126, 0.7152, 0.0722])
        for each in (first, second)
    ]
    return np.asarray((np.maximum(*lights) + 0.05) / (np.minimum(*lights) + 0.05))


def _shades(side: Side) -> Floats:
    """Return how full each cell is: 0 for zero, 1 for the largest number of the format."""
    with np.errstate(invalid="ignore"):
        shades = np.minimum(np.abs(side.numbers) / side.largest, 1.0)
    # Infinity and NaN are no numbers of the scale: they get the strongest shade there is.
    shades = np.where(np.isfinite(side.codes) & np.isnan(shades), 1.0, shades)
    return np.asarray(shades)


def _scales(side: Side, number: int, mode: Mode, size: int) -> list[dict[str, Any]]:
    """Return one box for each scale, as tall as the rows that share it, and its number."""
    colors, (left, right) = COLORS[mode], (-0.5 - SCALE_WIDTH, -0.62)
    edges = [(span.first - 0.46, span.last + 0.46) for span in side.spans]
    boxes = {
        "type": "scatter",
        "x": [left, right, right, left, left, None] * len(edges),
        "y": [y for top, end in edges for y in (top, top, end, end, top, None)],
        "mode": "lines",
        "line": {"color": colors[SIDES[number][1]], "width": 1.5},
        "hoverinfo": "skip",
    }
    numbers = {
        "type": "scatter",
        "x": [(left + right) / 2] * len(edges),
        "y": [(top + end) / 2 for top, end in edges],
        "mode": "text",
        "text": [scale_text(span.scale) for span in side.spans],
        "textfont": {"color": colors["text"], "size": size},
        "hovertext": [scale_hover(span) for span in side.spans],
        "hoverinfo": "text",
    }
    return [boxes | _axes(number), numbers | _axes(number)]


def _set_axes(side: Side, number: int) -> dict[str, Any]:
    left = number * (WIDTH + GAP)
    num_rows, num_columns = side.original.shape
    hidden = {"visible": False, "fixedrange": True}
    low = -0.5 - (SCALE_WIDTH if side.spans else 0.0)
    suffix = "" if number == 0 else str(number + 1)
    across = {"domain": [left, left + WIDTH], "range": [low, num_columns - 0.5]}
    down = {"range": [num_rows - 0.5, -0.5], "anchor": _axes(number)["xaxis"]}
    return {f"xaxis{suffix}": hidden | across, f"yaxis{suffix}": hidden | down}


def _title(side: Side, number: int, mode: Mode) -> dict[str, Any]:
    name, token = SIDES[number]
    return {
        "text": f"<b>{name}</b> · {side_title(side)}",
        "x": number * (WIDTH + GAP),
        "y": 1,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"color": COLORS[mode][token]},
    }
