"""The histogram of gradients, and the bands of a format that a loss scale moves under it."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from core.dtypes.labs import GradientBands, GradientHistogram
from core.figures.dtypes.low_precision_training.lab_frame import LabDrawing, hatched
from core.figures.dtypes.written import percent, power_of_two, short
from core.figures.picture import Look, Picture, Table
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


def loss_scale_picture(histogram: GradientHistogram, bands: GradientBands, look: Look) -> Picture:
    """Return bars of log2|g| on the four bands; the bars never move, the bands do."""
    drawing = LabDrawing(look=look)
    low, high = min(_LOW, histogram.edges[0]), max(_HIGH, histogram.edges[-1])
    inner = [math.log2(each) for each in (bands.zero_below, bands.normal_from, bands.overflow_from)]
    _draw_bars(drawing, histogram, inner)
    borders = [low, *inner, high]
    for place, count in enumerate(band_counts(bands)):
        left, right = max(borders[place], low), min(borders[place + 1], high)
        if left < right:
            _draw_band(drawing, BANDS[place], (left, right), bands.share(count))
    powers = range(math.ceil(low / 8) * 8, math.floor(high / 8) * 8 + 1, 8)
    layout = drawing.layout(
        x={
            "title": _("|gradient|, before scaling"),
            "range": [low, high],
            "tickvals": list(powers),
            "ticktext": [power_of_two(power) for power in powers],
        },
        y={"title": _("gradients"), "showgrid": False},
    )
    margin = layout["margin"] | {"t": 96 if look.present else 72}
    figure = drawing.figure(layout | {"margin": margin, "bargap": 0, "showlegend": False})
    return Picture(figure=figure, alt=_sentence(bands), table=_table(bands))


def _draw_bars(drawing: LabDrawing, histogram: GradientHistogram, borders: Sequence[float]) -> None:
    centers = (histogram.edges[:-1] + histogram.edges[1:]) / 2
    rows = [BANDS[int(np.searchsorted(borders, center))] for center in centers]
    drawing.bar(
        x=centers,
        y=histogram.counts,
        width=np.diff(histogram.edges),
        marker={
            "color": [drawing.look.color(color) for _name, color, _shape in rows],
            "pattern": hatched([shape for _name, _color, shape in rows]),
            "line": {"width": 0},
        },
        customdata=[f"2^{center:.2f}" for center in centers],
        hovertemplate="|g| ≈ %{customdata}: %{y:,}<extra></extra>",
    )


def _draw_band(
    drawing: LabDrawing, row: tuple[str, str, str], ends: tuple[float, float], share: float
) -> None:
    name, color, _shape = row
    (left, right), look = ends, drawing.look
    drawing.shape(
        type="rect", x0=left, x1=right, yref="paper", y0=0, y1=1, layer="below",
        fillcolor=look.color(color), opacity=_TINT, line={"width": 0},
    )  # fmt: skip
    drawing.note(
        x=(left + right) / 2, yref="paper", y=1, yanchor="bottom",
        text=f"{_(name)}<br><b>{percent(share)}</b>", font={"color": look.color("text")},
    )  # fmt: skip


def _sentence(bands: GradientBands) -> str:
    """Return how many gradients lie in each band."""
    parts = [
        _("{count} {band}").format(count=f"{count:,}", band=_(name))
        for count, (name, _color, _shape) in zip(band_counts(bands), BANDS, strict=True)
    ]
    return _("Of {total} gradients times {scale} in {format}: {parts}.").format(
        total=f"{bands.num_gradients:,}",
        scale=f"{bands.scale:,g}",
        format=short(bands.format),
        parts=_(", ").join(parts),
    )


def _table(bands: GradientBands) -> Table:
    """Return the four bands with their borders, counts and shares."""
    borders = (0.0, bands.zero_below, bands.normal_from, bands.overflow_from)
    return {
        _("band"): [_(name) for name, _color, _shape in BANDS],
        _("from |g|"): [f"{border:.4g}" for border in borders],
        _("gradients"): [f"{count:,}" for count in band_counts(bands)],
        _("share"): [percent(bands.share(count)) for count in band_counts(bands)],
    }
