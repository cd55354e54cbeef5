"""Decoding and prefill under the roofline: what each pass reaches of the device's peak."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from core.budget.serving_roofline import RooflinePoint
from core.figures.drawing import Drawing
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import N_, _
from core.units import format_flops_per_second, format_percent

HEIGHT_PX: Final = 350
PRESENT_HEIGHT_PX: Final = 400
_RANGE: Final = (0.5, 20_000.0)  # FLOPs for each byte
PHASES: Final[Mapping[str, str]] = {"decoding": N_("decoding"), "prefill": N_("prefill")}
_LOOKS: Final = {
    "decoding": ("kv_cache", "circle", "lines+markers"),
    "prefill": ("weights", "square", "markers"),
}


def roofline_figure(
    points: Sequence[RooflinePoint],
    roof: tuple[float, float],
    mode: Mode,
    *,
    present: bool = False,
) -> go.Figure:
    """Return FLOP/s over FLOPs per byte, with the roof of the data sheet.

    Args:
        points: What `core.budget.serving_roofline` found.
        roof: Dense peak in FLOP/s and bandwidth in bytes/s of the device.
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    layout = plotly_layout(mode, present=present)
    drawing, color = Drawing(), COLORS[mode]
    _draw_roof(drawing, roof, color)
    for phase, (token, symbol, lines) in _LOOKS.items():
        found = [point for point in points if point.phase == phase]
        drawing.scatter(
            x=[point.intensity for point in found],
            y=[point.flops_per_second for point in found],
            mode=f"{lines}+text",
            name=_(PHASES[phase]),
            text=[f"{point.num_tokens:,}" for point in found],
            textposition="bottom right",
            line={"color": color[token], "width": 2, "dash": "dot"},
            marker={"color": color[token], "size": 12, "symbol": symbol},
            customdata=[_words(point) for point in found],
            hovertemplate="%{customdata}<extra></extra>",
        )
    axis = {"type": "log", "zeroline": False, "fixedrange": True, "exponentformat": "SI"}
    lowest = min(point.flops_per_second for point in points)
    heights = [math.log10(lowest) - 0.4, math.log10(roof[0]) + 0.35]
    return drawing.figure(
        layout
        | {
            "template": "none",
            "xaxis": layout["xaxis"]
            | axis
            | {"title": {"text": _("FLOPs for each byte read")}, "dtick": 1}
            | {"range": [math.log10(end) for end in _ends(points)]},
            "yaxis": layout["yaxis"]
            | axis
            | {"title": {"text": _("FLOP/s of one device")}, "range": heights, "dtick": 1},
            "height": PRESENT_HEIGHT_PX if present else HEIGHT_PX,
            "margin": {"l": 8, "r": 24, "t": 34, "b": 8},
        }
    )


def _ends(points: Sequence[RooflinePoint]) -> tuple[float, float]:
    lowest = min(point.intensity for point in points)
    highest = max(point.intensity for point in points)
    return min(_RANGE[0], lowest / 2), max(_RANGE[1], highest * 2)


def _draw_roof(drawing: Drawing, roof: tuple[float, float], color: Mapping[str, str]) -> None:
    peak, bandwidth = roof
    ridge = peak / bandwidth
    drawing.scatter(
        x=[1e-3, ridge, 1e9],
        y=[1e-3 * bandwidth, peak, peak],
        mode="lines",
        name=_("roof of the data sheet"),
        line={"color": color["text"], "width": 3},
        hoverinfo="skip",
    )
    drawing.note(
        x=math.log10(ridge),
        y=math.log10(peak),
        text=_("{peak} from {ridge} FLOPs per byte on").format(
            peak=format_flops_per_second(peak), ridge=f"{ridge:,.3g}"
        ),
        yanchor="bottom",
        yshift=4,
    )


def _words(point: RooflinePoint) -> str:
    return _(
        "{phase}, {count} tokens in a pass: {intensity} FLOPs per byte, {speed}, {mfu} of the peak"
    ).format(
        phase=_(PHASES[point.phase]),
        count=f"{point.num_tokens:,}",
        intensity=f"{point.intensity:,.3g}",
        speed=format_flops_per_second(point.flops_per_second),
        mfu=format_percent(point.mfu),
    )


def roofline_alt(points: Sequence[RooflinePoint]) -> str:
    """Return the picture in words: decoding for one, decoding for many, and the prompt."""
    *decoding, prefill = points
    return _("Roofline. {first}; {last}; {prefill}.").format(
        first=_words(decoding[0]), last=_words(decoding[-1]), prefill=_words(prefill)
    )


def roofline_table(points: Sequence[RooflinePoint]) -> Mapping[str, Sequence[object]]:
    """Return one row for each pass."""
    return {
        _("pass"): [_(PHASES[point.phase]) for point in points],
        _("tokens in a pass"): [point.num_tokens for point in points],
        _("FLOPs per byte"): [f"{point.intensity:,.4g}" for point in points],
        _("FLOP/s"): [format_flops_per_second(point.flops_per_second) for point in points],
        _("MFU"): [format_percent(point.mfu) for point in points],
    }
