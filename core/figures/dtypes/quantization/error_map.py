"""What two formats lose on the same tensor: where, and how much."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.blocks.storage_trials import Loss, histogram_centers
from core.figures.dtypes.quantization.block_side import SIDES
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _
from core.units import format_decibels

HEIGHT_PX: Final = 380
PRESENT_HEIGHT_PX: Final = 420
FLOOR: Final = 1e-7  # tiles with a smaller error are drawn as exact
_DOMAINS: Final = ((0.0, 0.25), (0.265, 0.515))
_DASHES: Final = ("solid", "dash")


def error_figure(losses: Sequence[Loss], mode: Mode, *, present: bool = False) -> go.Figure:
    """Return two maps of the error in one colour scale, and both histograms of |error|."""
    layout = plotly_layout(mode, present=present)
    figure = go.Figure(layout=layout | {"template": "none"})
    low, high = _range(losses)
    for number, loss in enumerate(losses):
        _draw_map(figure, loss, number, (low, high), mode)
        _draw_histogram(figure, loss, number, mode)
    size = layout["font"]["size"]
    figure.update_layout(
        coloraxis={
            "cmin": low,
            "cmax": high,
            "colorscale": [[0, COLORS[mode]["surface"]], [1, COLORS[mode]["accent"]]],
            "colorbar": _colorbar(low, high, size),
        },
        xaxis3=layout["xaxis"]
        | {
            "domain": [0.72, 1],
            "anchor": "y3",
            "type": "log",
            "range": [-5, 1],
            "title": {"text": _("|error| / RMS of the tensor")},
            "exponentformat": "power",
            "zeroline": False,
        },
        yaxis3=layout["yaxis"]
        | {"anchor": "x3", "title": {"text": _("share of the values")}, "tickformat": ".0%"},
        height=PRESENT_HEIGHT_PX if present else HEIGHT_PX,
        legend={"x": 0.68, "y": 1.02},
    )
    return figure


def _range(losses: Sequence[Loss]) -> tuple[float, float]:
    """Return the decades of the common colour scale."""
    tiles = np.concatenate([loss.tiles.reshape(-1) for loss in losses])
    seen = tiles[np.isfinite(tiles) & (tiles > FLOOR)]
    if not seen.size:
        return -1.0, 0.0
    low, high = float(np.log10(seen.min())), float(np.log10(seen.max()))
    return (low, high) if high - low > 0.1 else (low - 0.5, high + 0.5)


def _colorbar(low: float, high: float, size: int) -> dict[str, object]:
    marks = np.linspace(low, high, 4)
    return {
        "x": 0.525,
        "xanchor": "left",
        "thickness": size,
        "tickvals": list(marks),
        "ticktext": [f"{10**mark:.1g}" for mark in marks],
        "title": {"text": _("error"), "side": "top"},
        "outlinewidth": 0,
    }


def _draw_map(
    figure: go.Figure, loss: Loss, number: int, decades: tuple[float, float], mode: Mode
) -> None:
    suffix = "" if number == 0 else str(number + 1)
    tiles = np.where(loss.tiles > FLOOR, loss.tiles, 10 ** decades[0])
    tiles = np.where(np.isnan(loss.tiles), np.nan, tiles)
    figure.add_heatmap(
        z=np.log10(tiles).round(3),
        customdata=np.where(np.isnan(loss.tiles), 0, loss.tiles).round(7),
        coloraxis="coloraxis",
        hovertemplate=_("RMS error of this tile: %{customdata:.3g} of the tensor's RMS")
        + "<extra></extra>",
        xaxis=f"x{suffix}",
        yaxis=f"y{suffix}",
    )
    hidden = {"visible": False, "fixedrange": True}
    figure.update_layout(
        {
            f"xaxis{suffix}": hidden | {"domain": _DOMAINS[number]},
            f"yaxis{suffix}": hidden | {"autorange": "reversed", "anchor": f"x{suffix}"},
        }
    )
    name, token = SIDES[number]
    figure.add_annotation(
        text=f"<b>{name}</b> · {loss.name}",
        x=_DOMAINS[number][0],
        y=1,
        xref="paper",
        yref="paper",
        xanchor="left",
        yanchor="bottom",
        showarrow=False,
        font={"color": COLORS[mode][token]},
    )


def _draw_histogram(figure: go.Figure, loss: Loss, number: int, mode: Mode) -> None:
    name, token = SIDES[number]
    figure.add_scatter(
        x=histogram_centers(),
        y=loss.shares,
        name=f"{name} · {loss.name}",
        mode="lines",
        line={
            "color": COLORS[mode][token],
            "dash": _DASHES[number],
            "width": 3,
        },
        hovertemplate="%{x:.1e}: %{y:.1%}<extra>%{fullData.name}</extra>",
        xaxis="x3",
        yaxis="y3",
    )


def error_alt(losses: Sequence[Loss]) -> str:
    """Return the picture in words."""
    parts = [
        _(
            "{name}: RMS error {rmse}, largest error {largest}, {exact} of the values unchanged"
        ).format(
            name=loss.name,
            rmse=size_text(loss, loss.stats.rmse),
            largest=size_text(loss, loss.stats.max_abs),
            exact=f"{loss.exact_share:.1%}",
        )
        for loss in losses
    ]
    return _("; ").join(parts) + _(".")


def size_text(loss: Loss, size: float) -> str:
    """Return the size of an error, or n/a where no value is left to compare."""
    return f"{size:.3g}" if loss.stats.num_values else "n/a"


def error_table(losses: Sequence[Loss]) -> Mapping[str, Sequence[object]]:
    """Return the error statistics, one column for each format."""
    rows = {
        _("RMS error"): [size_text(loss, loss.stats.rmse) for loss in losses],
        _("SQNR"): [format_decibels(loss.stats.sqnr_db) for loss in losses],
        _("largest error"): [size_text(loss, loss.stats.max_abs) for loss in losses],
        _("largest relative error"): [f"{loss.stats.max_relative:.4g}" for loss in losses],
        _("cosine"): [f"{loss.stats.cosine:.8f}" for loss in losses],
        _("became zero"): [f"{loss.stats.num_zeroed:,}" for loss in losses],
        _("clipped"): [f"{loss.stats.num_clipped or 0:,}" for loss in losses],
        _("became NaN or infinite"): [f"{loss.stats.num_lost:,}" for loss in losses],
        _("unchanged"): [f"{loss.exact_share:.2%}" for loss in losses],
    }
    columns = {
        f"{name} · {loss.name}": [cells[number] for cells in rows.values()]
        for number, ((name, _token), loss) in enumerate(zip(SIDES, losses, strict=True))
    }
    return {_("measure"): list(rows), **columns}
