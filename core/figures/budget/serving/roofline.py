"""Decoding and prefill under the roofline: what each pass reaches of the device's peak."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from core.budget.budget import fit_words
from core.budget.serving.throughput import RooflinePoint
from core.figures.budget.flops_frame import framed, intensity_words
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _, ngettext
from core.units import format_count, format_flops_per_second, format_percent

HEIGHTS: Final = (320, 330)  # in px, on a screen and on a projector
MARGIN: Final = {"l": 8, "r": 24, "t": 34, "b": 8}
_RANGE: Final = (0.5, 20_000.0)  # FLOPs for each byte
_POWERS: Final = [10**power for power in range(19)]
_SMALL_POWERS: Final = [10.0**power for power in range(-3, 10)]
_SIDE: Final = 0.2  # of the picture: where words in the middle of a place may be cut
_APART: Final = 1.5  # between points that both have a name
PHASES: Final[Mapping[str, str]] = {"decoding": N_("decoding"), "prefill": N_("prefill")}
# Colour, mark, and where there is room for the number: prefill lies at the right edge.
_LOOKS: Final = {
    "decoding": ("kv_cache", "circle", "lines+markers+text", "bottom right"),
    "prefill": ("activations", "square", "markers+text", "bottom left"),
}


def roofline_picture(
    points: Sequence[RooflinePoint],
    roof: tuple[float, float],
    look: Look,
    *,
    peak_in_16_bits: float | None = None,
) -> Picture:
    """Return FLOP/s over FLOPs per byte, with the roof of the data sheet.

    Args:
        points: What `core.budget.serving.throughput` found.
        roof: Dense peak in FLOP/s and bandwidth in bytes/s of the device.
        look: How the reader wants to see.
        peak_in_16_bits: Of weight-only products, drawn where `roof` is that of native ones.
    """
    drawing = Drawing()
    peak, bandwidth = roof
    ends = _ends(points, peak / bandwidth)
    if peak_in_16_bits is not None and peak_in_16_bits != peak:
        _draw_wide_roof(drawing, (peak_in_16_bits, bandwidth), look)
    _draw_roof(drawing, roof, ends, look)
    for phase in _LOOKS:
        _draw_phase(drawing, phase, [point for point in points if point.phase == phase], look)
    lowest = min(point.flops_per_second for point in points)
    figure = framed(
        drawing,
        look,
        height=HEIGHTS[look.present],
        margin=MARGIN,
        x={
            "title": _("arithmetic intensity (FLOP/byte)"),
            "type": "log",
            "range": [math.log10(end) for end in ends],
            "tickvals": _SMALL_POWERS,
            "ticktext": list(map(_tick, _SMALL_POWERS)),
        },
        y={
            "title": _("FLOP/s per device"),
            "title_standoff": 8,
            "type": "log",
            "range": [math.log10(lowest) - 0.4, math.log10(peak) + 0.35],
            "tickvals": _POWERS,
            "ticktext": list(map(format_flops_per_second, _POWERS)),
        },
    )
    return Picture(figure=figure, alt=_sentence(points), table=_table(points))


def _draw_phase(drawing: Drawing, phase: str, points: Sequence[RooflinePoint], look: Look) -> None:
    meaning, symbol, parts, side = _LOOKS[phase]
    drawing.scatter(
        x=[point.intensity for point in points],
        y=[point.flops_per_second for point in points],
        mode=parts,
        name=_(PHASES[phase]),
        text=_names(points),
        textposition=side,
        line={"color": look.color(meaning), "width": 2, "dash": "dot"},
        marker={
            "color": look.color(meaning),
            "size": 12,
            "symbol": [symbol if point.fits else f"{symbol}-open" for point in points],
        },
        customdata=[_words(point) for point in points],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _tick(power: float) -> str:
    return f"{power:,g}" if power < 1e6 else format_count(power).replace(".00 ", " ")


def _names(points: Sequence[RooflinePoint]) -> list[str]:
    """Return how many tokens a point stands for, left out where it would lie on the one before."""
    names: list[str] = []
    last = 0.0
    for point in points:
        is_free = point.intensity > _APART * last
        names.append(f"{point.num_tokens:,}" if is_free else "")
        last = point.intensity if is_free else last
    return names


def _ends(points: Sequence[RooflinePoint], ridge: float) -> tuple[float, float]:
    found = [ridge, *(point.intensity for point in points)]
    lowest, highest = min(found), max(found)
    return min(_RANGE[0], lowest / 2), max(_RANGE[1], highest * 2)


def _draw_roof(
    drawing: Drawing,
    roof: tuple[float, float],
    ends: tuple[float, float],
    look: Look,
) -> None:
    peak, bandwidth = roof
    ridge = peak / bandwidth
    drawing.scatter(
        x=[1e-3, ridge, 1e9],
        y=[1e-3 * bandwidth, peak, peak],
        mode="lines",
        name=_("data-sheet roofline"),
        line={"color": look.color("text"), "width": 3},
        hoverinfo="skip",
    )
    left, here, right = (math.log10(each) for each in (ends[0], ridge, ends[1]))
    share = (here - left) / (right - left)
    drawing.note(
        x=math.log10(ridge),
        y=math.log10(peak),
        text=_("{peak}, ridge point {ridge} FLOP/byte").format(
            peak=format_flops_per_second(peak), ridge=intensity_words(ridge)
        ),
        xanchor=("left" if share < _SIDE else "right" if share > 1 - _SIDE else "center"),
        yanchor="bottom",
        yshift=4,
    )


def _draw_wide_roof(drawing: Drawing, roof: tuple[float, float], look: Look) -> None:
    """Draw where the same device would turn if its products were made in 16 bits."""
    peak, bandwidth = roof
    drawing.scatter(
        x=[peak / bandwidth, 1e9],
        y=[peak, peak],
        mode="lines",
        name=_("16-bit roofline: {peak}, ridge point {ridge}").format(
            peak=format_flops_per_second(peak), ridge=intensity_words(peak / bandwidth)
        ),
        line={"color": look.color("reference"), "width": 2, "dash": "dash"},
        hoverinfo="skip",
    )


def _words(point: RooflinePoint) -> str:
    return ngettext(
        "{phase}, {count} token per pass: {intensity} FLOP/byte, {speed}, {mfu} of the peak "
        "({fits})",
        "{phase}, {count} tokens per pass: {intensity} FLOP/byte, {speed}, {mfu} of the "
        "peak ({fits})",
        point.num_tokens,
    ).format(
        phase=_(PHASES[point.phase]),
        count=f"{point.num_tokens:,}",
        intensity=intensity_words(point.intensity),
        speed=format_flops_per_second(point.flops_per_second),
        mfu=format_percent(point.mfu),
        fits=fit_words(point.fits, is_sure=not point.is_guess),
    )


def _sentence(points: Sequence[RooflinePoint]) -> str:
    """Return the picture in words: decoding for one, decoding for many, and the prompt."""
    *decoding, prefill = points
    return _("Roofline. {first}; {last}; {prefill}.").format(
        first=_words(decoding[0]), last=_words(decoding[-1]), prefill=_words(prefill)
    )


def _table(points: Sequence[RooflinePoint]) -> Table:
    """Return one row for each pass."""
    return {
        _("pass"): [_(PHASES[point.phase]) for point in points],
        _("tokens per pass"): [point.num_tokens for point in points],
        _("arithmetic intensity (FLOP/byte)"): [f"{point.intensity:,.4g}" for point in points],
        _("FLOP/s"): [format_flops_per_second(point.flops_per_second) for point in points],
        _("MFU"): [format_percent(point.mfu) for point in points],
        _("Device memory"): [fit_words(point.fits, is_sure=not point.is_guess) for point in points],
    }
