"""The histogram of gradients, and the bands of a format that a loss scale moves under it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.labs import GradientBands, GradientHistogram
from core.figures.dtypes.lab_frame import hatched, lab_figure, percent, short
from core.figures.theme import COLORS, Mode
from core.language import N_, _

# Name, colour and hatching of each band.
BANDS: Final = (
    (N_("becomes zero"), "underflow", "x"),
    (N_("subnormal"), "estimated", "/"),
    (N_("full precision"), "exact", ""),
    (N_("overflows"), "overflow", "\\"),
)
_LOW, _HIGH = -44.0, 22.0  # log2|g| that is always on the picture
_TINT: Final = 0.16


def band_counts(bands: GradientBands) -> tuple[int, int, int, int]:
    """Return the counts in the order of `BANDS`."""
    return (bands.num_zero, bands.num_subnormal, bands.num_normal, bands.num_overflow)


def loss_scale_figure(
    histogram: GradientHistogram,
    bands: GradientBands,
    mode: Mode = "light",
    *,
    present: bool = False,
) -> go.Figure:
    """Return bars of log2|g| on the four bands; the bars never move, the bands do."""
    low, high = min(_LOW, histogram.edges[0]), max(_HIGH, histogram.edges[-1])
    figure = lab_figure(
        [_bars(histogram, bands, mode)],
        mode,
        present=present,
        x={"title": _("|gradient|, before scaling"), "range": [low, high], **_ticks(low, high)},
        y={"title": _("gradients"), "showgrid": False},
    )
    figure.update_layout(bargap=0, showlegend=False)
    figure.update_layout(margin={"t": 96 if present else 72})
    borders = [low, *_borders(bands), high]
    for number, row in enumerate(BANDS):
        left, right = max(borders[number], low), min(borders[number + 1], high)
        _add_band(figure, row, (left, right), bands.share(band_counts(bands)[number]), mode)
    return figure


def _borders(bands: GradientBands) -> list[float]:
    return [math.log2(each) for each in (bands.zero_below, bands.normal_from, bands.overflow_from)]


def _ticks(low: float, high: float) -> dict[str, Any]:
    powers = range(math.ceil(low / 8) * 8, math.floor(high / 8) * 8 + 1, 8)
    return {"tickvals": list(powers), "ticktext": [f"2<sup>{power}</sup>" for power in powers]}


def _bars(histogram: GradientHistogram, bands: GradientBands, mode: Mode) -> go.Bar:
    centers = (histogram.edges[:-1] + histogram.edges[1:]) / 2
    rows = [BANDS[int(np.searchsorted(_borders(bands), center))] for center in centers]
    return go.Bar(
        x=centers,
        y=histogram.counts,
        width=np.diff(histogram.edges),
        marker={
            "color": [COLORS[mode][color] for _name, color, _shape in rows],
            "pattern": hatched([shape for _name, _color, shape in rows]),
            "line": {"width": 0},
        },
        customdata=[f"2^{center:.2f}" for center in centers],
        hovertemplate="|g| ≈ %{customdata}: %{y:,}<extra></extra>",
    )


def _add_band(
    figure: go.Figure,
    row: tuple[str, str, str],
    ends: tuple[float, float],
    share: float,
    mode: Mode,
) -> None:
    name, color, _shape = row
    left, right = ends
    if right <= left:
        return
    figure.add_shape(
        type="rect", x0=left, x1=right, yref="paper", y0=0, y1=1, layer="below",
        fillcolor=COLORS[mode][color], opacity=_TINT, line={"width": 0},
    )  # fmt: skip
    figure.add_annotation(
        x=(left + right) / 2, yref="paper", y=1, yanchor="bottom", showarrow=False,
        text=f"{_(name)}<br><b>{percent(share)}</b>", font={"color": COLORS[mode]["text"]},
    )  # fmt: skip


def loss_scale_alt(bands: GradientBands) -> str:
    """Return the picture as one sentence: how many gradients lie in each band."""
    parts = [
        _("{count} {band}").format(count=f"{count:,}", band=_(name))
        for count, (name, _color, _shape) in zip(band_counts(bands), BANDS, strict=True)
    ]
    return _("Of {total} gradients times {scale} in {format}: {parts}.").format(
        total=f"{bands.num_gradients:,}",
        scale=f"{bands.scale:,g}",
        format=short(bands.format),
        parts=", ".join(parts),
    )


def loss_scale_table(bands: GradientBands) -> Mapping[str, Sequence[object]]:
    """Return the four bands with their borders, counts and shares."""
    borders = (0.0, bands.zero_below, bands.normal_from, bands.overflow_from)
    return {
        _("band"): [_(name) for name, _color, _shape in BANDS],
        _("from |g|"): [f"{border:.4g}" for border in borders],
        _("gradients"): [f"{count:,}" for count in band_counts(bands)],
        _("share"): [percent(bands.share(count)) for count in band_counts(bands)],
    }
