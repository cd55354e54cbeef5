"""The roofline of a device, and where operations stand below it."""

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from core.budget.cluster import DeviceSpec
from core.budget.compute.intensity import Operation, bound, ridge
from core.figures.budget.flops_and_time.roofline_labels import label_marks
from core.figures.budget.flops_frame import framed, intensity_words, joined
from core.figures.drawing import Drawing
from core.figures.picture import Look
from core.figures.theme import COLORS, Mode
from core.language import _
from core.units import format_count, format_flops_per_second, format_percent

_NEAR_THE_EDGE = 20  # times the left end: words to the left would leave the picture
_LEFT, _RIGHT = 0.05, 2e5  # FLOPs for each byte, the ends of the axis


def roofline_plot(
    operations: Sequence[Operation],
    device: DeviceSpec,
    peak: float,
    mode: Mode,
    *,
    present: bool = False,
) -> go.Figure:
    """Return the roof of a device with a mark for each operation on it.

    Args:
        operations: What stands below the roof; the last ones are drawn on top.
        device: Whose roof it is.
        peak: Its dense FLOP/s in the dtype that is used.
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    drawing = Drawing()
    edge = float(ridge(peak, device.bandwidth).amount)
    heights = [peak * bound(each, peak, device.bandwidth).amount for each in operations]
    _draw_roof(drawing, device, peak, _ends(operations, edge), mode)
    _draw_marks(drawing, operations, heights, (device, peak, edge), COLORS[mode])
    label_marks(drawing, operations, heights, edge, present=present)
    lowest = min([*heights, peak]) / 8
    return framed(
        drawing,
        Look(mode=mode, present=present),
        x={"title": _("FLOPs for each byte moved"), "type": "log", **_across(operations, edge)},
        y={
            "title": _("FLOP/s at most"),
            "type": "log",
            "range": [math.log10(lowest), math.log10(peak * 4)],
            **_rate_ticks(lowest, peak),
        },
    )


def _draw_marks(
    drawing: Drawing,
    operations: Sequence[Operation],
    heights: Sequence[float],
    roof: tuple[DeviceSpec, float, float],
    color: Mapping[str, str],
) -> None:
    """Draw a mark for each operation; `roof` is a device, its peak and the turn of its roof."""
    device, peak, edge = roof
    waits = [each.intensity.amount < edge for each in operations]
    for is_waiting, token, symbol, name in (
        (True, "backward", "circle", _("waits for memory")),
        (False, "forward", "diamond", _("computes all the time")),
    ):
        found = [place for place, wait in enumerate(waits) if wait == is_waiting]
        drawing.scatter(
            x=[operations[place].intensity.amount for place in found],
            y=[heights[place] for place in found],
            mode="markers",
            name=name,
            marker={"color": color[token], "symbol": symbol, "size": 14},
            customdata=[_told(operations[place], peak, device) for place in found],
            hovertemplate="%{customdata}<extra></extra>",
        )


def _across(operations: Sequence[Operation], edge: float) -> dict[str, object]:
    """Return the axis of intensities: every operation and the turn of the roof lie on it."""
    left, right = _ends(operations, edge)
    places = range(math.ceil(math.log10(left)), math.floor(math.log10(right)) + 1)
    return {
        "range": [math.log10(left), math.log10(right)],
        "tickvals": [10.0**place for place in places],
        "ticktext": [_tick(10.0**place) for place in places],
    }


def _ends(operations: Sequence[Operation], edge: float) -> tuple[float, float]:
    found = [edge, *(each.intensity.amount for each in operations)]
    return min(_LEFT, min(found) / 4), max(_RIGHT, max(found) * 4)


def _tick(intensity: float) -> str:
    return format_count(intensity).replace(".0 ", " ") if intensity >= 10_000 else f"{intensity:,g}"


def _rate_ticks(low: float, high: float) -> dict[str, object]:
    places = range(math.ceil(math.log10(low)), math.floor(math.log10(high * 4)) + 1)
    values = [10.0**place for place in places]
    return {"tickvals": values, "ticktext": [_whole(each) for each in values]}


def _whole(rate: float) -> str:
    return format_flops_per_second(rate).replace(".00 ", " ").replace(".0 ", " ")


def _draw_roof(
    drawing: Drawing, device: DeviceSpec, peak: float, ends: tuple[float, float], mode: Mode
) -> None:
    color, edge = COLORS[mode], float(ridge(peak, device.bandwidth).amount)
    drawing.scatter(
        x=[ends[0], edge, ends[1]],
        y=[ends[0] * device.bandwidth, peak, peak],
        mode="lines",
        name=device.name,
        line={"color": color["text"], "width": 3},
        hoverinfo="skip",
    )
    drawing.scatter(
        x=[edge, edge], y=[1, peak], mode="lines", showlegend=False, hoverinfo="skip",
        line={"color": color["reference"], "width": 2, "dash": "dot"},
    )  # fmt: skip
    drawing.note(
        x=math.log10(edge), y=math.log10(peak), text=f"{intensity_words(edge)} FLOPs/B", yshift=14,
        xanchor="left" if edge < _NEAR_THE_EDGE * ends[0] else "right",
    )  # fmt: skip


def _told(operation: Operation, peak: float, device: DeviceSpec) -> str:
    share = bound(operation, peak, device.bandwidth).amount
    return _("{name}: {intensity} FLOPs/B, at most {share} of the peak").format(
        name=_(operation.name),
        intensity=intensity_words(operation.intensity.amount),
        share=format_percent(share),
    )


def roofline_alt(operations: Sequence[Operation], device: DeviceSpec, peak: float) -> str:
    """Return the picture in words."""
    edge = ridge(peak, device.bandwidth).amount
    waiting = [_(each.name) for each in operations if each.intensity.amount < edge]
    busy = [_(each.name) for each in operations if each.intensity.amount >= edge]
    return _(
        "Roofline of {device}, which turns at {edge} FLOPs for each byte. Waiting for memory: "
        "{waiting}. Computing all the time: {busy}."
    ).format(
        device=device.name,
        edge=intensity_words(edge),
        waiting=joined(waiting) or "-",
        busy=joined(busy) or "-",
    )


def roofline_table(
    operations: Sequence[Operation], device: DeviceSpec, peak: float
) -> Mapping[str, Sequence[object]]:
    """Return one row an operation."""
    shares = [bound(each, peak, device.bandwidth).amount for each in operations]
    return {
        _("operation"): [_(each.name) for each in operations],
        _("FLOPs"): [f"{each.flops.amount:,.4g}" for each in operations],
        _("bytes moved"): [f"{each.moved.amount:,.4g}" for each in operations],
        _("FLOPs for each byte"): [f"{each.intensity.amount:,.4g}" for each in operations],
        _("share of the peak, at most"): [format_percent(share) for share in shares],
    }
