"""The same picture as every format gives it back, side by side."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.labs import StoredPicture
from core.figures.dtypes.lab_frame import HEIGHT_PX, number, short
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _, ngettext

NUM_COLUMNS: Final = 5
PRESENT_PICTURES_PX: Final = 330  # the pictures are narrower there, and stay square
_GAP: Final = 0.015
_TITLE: Final = 0.14  # of the height of a row, for the words above a picture


def pictures_figure(
    pictures: Sequence[StoredPicture],
    chosen: str,
    mode: Mode = "light",
    *,
    present: bool = False,
) -> go.Figure:
    """Return one small picture a format; what overflowed shows the colour of overflow.

    Args:
        pictures: The same picture in several formats, with square pixels.
        chosen: Name of the format with a frame.
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    layout = plotly_layout(mode, present=present)
    height = PRESENT_PICTURES_PX if present else HEIGHT_PX
    layout |= {"height": height, "template": "none", "margin": {"l": 0, "r": 0, "t": 4, "b": 0}}
    layout |= {"coloraxis": {"colorscale": "gray", "cmin": 0, "cmax": 1, "showscale": False}}
    # A pixel that is not finite is left out: the ground shines through.
    layout |= {"annotations": [], "shapes": []}
    traces = []
    for number_, picture in enumerate(pictures):
        x, y = _domain(number_, len(pictures))
        suffix = "" if number_ == 0 else str(number_ + 1)
        layout[f"xaxis{suffix}"] = _hidden(x) | {"anchor": f"y{suffix}"}
        layout[f"yaxis{suffix}"] = _hidden(y) | {"anchor": f"x{suffix}", "autorange": "reversed"}
        layout["shapes"].append(_ground(x, y, mode, framed=picture.format == chosen))
        layout["annotations"].append(_words(picture, x, y, mode, present=present))
        traces.append(_heatmap(picture, suffix))
    return go.Figure(data=traces, layout=layout)


def _heatmap(picture: StoredPicture, suffix: str) -> go.Heatmap:
    pixels = np.where(np.isfinite(picture.pixels), picture.pixels, np.nan)
    return go.Heatmap(
        z=pixels.astype(np.float32),
        coloraxis="coloraxis",
        xaxis=f"x{suffix}",
        yaxis=f"y{suffix}",
        name=short(picture.format),
        hovertemplate="%{z:.5f}<extra>%{fullData.name}</extra>",
    )


def _domain(number_: int, count: int) -> tuple[list[float], list[float]]:
    row, column = divmod(number_, NUM_COLUMNS)
    num_rows = -(-count // NUM_COLUMNS)
    width, height = 1 / NUM_COLUMNS, 1 / num_rows
    top = 1 - row * height
    return (
        [column * width + _GAP, (column + 1) * width - _GAP],
        [top - height + _GAP, top - height * _TITLE],
    )


def _hidden(domain: list[float]) -> dict[str, Any]:
    return {"domain": domain, "visible": False, "fixedrange": True}


def _ground(x: list[float], y: list[float], mode: Mode, *, framed: bool) -> dict[str, Any]:
    colors = COLORS[mode]
    edge = {"color": colors["accent"], "width": 8} if framed else {"width": 0}
    return {
        "type": "rect", "xref": "paper", "yref": "paper", "layer": "below",
        "x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1],
        "fillcolor": colors["overflow"], "line": edge,
    }  # fmt: skip


def _words(
    picture: StoredPicture, x: list[float], y: list[float], mode: Mode, *, present: bool
) -> dict[str, Any]:
    shades = f"{picture.num_shades:,}" if present else _shades(picture)
    return {
        "text": f"<b>{short(picture.format)}</b> · {shades}",
        "xref": "paper", "yref": "paper", "x": x[0], "y": y[1],
        "xanchor": "left", "yanchor": "bottom", "showarrow": False,
        "font": {"color": COLORS[mode]["text"]},
    }  # fmt: skip


def _shades(picture: StoredPicture) -> str:
    text = ngettext("{count} shade", "{count} shades", picture.num_shades)
    return text.format(count=f"{picture.num_shades:,}")


def pictures_alt(pictures: Sequence[StoredPicture]) -> str:
    """Return the picture as one sentence: how many shades each format keeps."""
    parts = [f"{short(each.format)} {_shades(each)}" for each in pictures]
    return _(
        "The same picture of {pixels} pixels, brightness times {exposure}, in each format: {parts}."
    ).format(
        pixels=f"{pictures[0].pixels.size:,}",
        exposure=number(pictures[0].exposure, 4),
        parts=", ".join(parts),
    )


def pictures_table(pictures: Sequence[StoredPicture]) -> Mapping[str, Sequence[object]]:
    """Return shades, signal to noise and lost pixels, a row a format."""
    return {
        _("format"): [each.format for each in pictures],
        _("shades"): [f"{each.num_shades:,}" for each in pictures],
        "SQNR (dB)": [number(each.sqnr_db, 4) for each in pictures],
        _("pixels lost"): [f"{each.num_lost:,}" for each in pictures],
        _("scale factor"): [number(each.scale, 5) for each in pictures],
    }
