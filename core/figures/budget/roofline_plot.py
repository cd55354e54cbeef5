"""The roofline of a device, and where operations stand below it."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from core.budget.cluster import DeviceSpec
from core.budget.compute.intensity import Operation, bound, ridge
from core.figures.budget.flops_frame import framed, joined
from core.figures.drawing import Drawing
from core.figures.theme import COLORS, Mode
from core.language import _
from core.units import format_flops_per_second, format_percent

_LEFT, _RIGHT = 0.05, 2e5  # FLOPs for each byte, the ends of the axis
_NEAR: Final = 1.6  # operations whose intensities differ by less share a label
_MOST_NAMES: Final = 3
_CLOSE: Final = 0.6  # powers of ten: labels of groups nearer than this stand below each other
_FIRST_PX: Final = 12


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
    drawing, color = Drawing(), COLORS[mode]
    edge = float(ridge(peak, device.bandwidth).amount)
    _draw_roof(drawing, device, peak, edge, mode)
    heights = [peak * bound(each, peak, device.bandwidth).amount for each in operations]
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
    _label(drawing, operations, heights, edge, present=present)
    lowest = min([*heights, peak]) / 8
    return framed(
        drawing,
        mode,
        present=present,
        x={
            "title": _("FLOPs for each byte moved"),
            "type": "log",
            "range": [math.log10(_LEFT), math.log10(_RIGHT)],
            "tickvals": [0.1, 1, 10, 100, 1000, 10_000, 100_000],
            "ticktext": ["0.1", "1", "10", "100", "1,000", "10 k", "100 k"],
        },
        y={
            "title": _("FLOP/s at most"),
            "type": "log",
            "range": [math.log10(lowest), math.log10(peak * 4)],
            **_rate_ticks(lowest, peak),
        },
    )


def _rate_ticks(low: float, high: float) -> dict[str, object]:
    places = range(math.ceil(math.log10(low)), math.floor(math.log10(high * 4)) + 1)
    values = [10.0**place for place in places]
    return {"tickvals": values, "ticktext": [_whole(each) for each in values]}


def _whole(rate: float) -> str:
    return format_flops_per_second(rate).replace(".00 ", " ").replace(".0 ", " ")


def _draw_roof(drawing: Drawing, device: DeviceSpec, peak: float, edge: float, mode: Mode) -> None:
    color = COLORS[mode]
    drawing.scatter(
        x=[_LEFT, edge, _RIGHT],
        y=[_LEFT * device.bandwidth, peak, peak],
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
        x=math.log10(edge), y=math.log10(peak), text=f"{edge:,.0f} FLOPs/B", yshift=14,
        xanchor="right",
    )  # fmt: skip


def _told(operation: Operation, peak: float, device: DeviceSpec) -> str:
    share = bound(operation, peak, device.bandwidth).amount
    return _("{name}: {intensity} FLOPs/B, at most {share} of the peak").format(
        name=_(operation.name),
        intensity=f"{operation.intensity.amount:,.3g}",
        share=format_percent(share),
    )


def _label(
    drawing: Drawing,
    operations: Sequence[Operation],
    heights: Sequence[float],
    edge: float,
    *,
    present: bool,
) -> None:
    """Name the marks; those that stand together, or on the flat part of the roof, share a label."""
    line_px, before, shift = (24 if present else 18), -math.inf, 0
    for group in _neighbours(operations, edge):
        names = [_(operations[place].name) for place in group]
        shown = names[: 1 if present else _MOST_NAMES]
        more = f" +{len(names) - len(shown)}" if len(names) > len(shown) else ""
        x = math.log10(operations[group[0]].intensity.amount)
        shift = shift if x - before < _CLOSE else _FIRST_PX  # below the label to the left of it
        drawing.note(
            x=x,
            y=math.log10(heights[group[0]]),
            text="<br>".join(shown) + more,
            yshift=-shift,
            yanchor="top",
            xanchor="left",
            align="left",
        )
        before, shift = x, shift + line_px * len(shown)


def _neighbours(operations: Sequence[Operation], edge: float) -> list[list[int]]:
    """Return the places of operations in groups, from few FLOPs a byte to many."""
    order = sorted(range(len(operations)), key=lambda place: operations[place].intensity.amount)
    groups: list[list[int]] = []
    for place in order:
        here = operations[place].intensity.amount
        first = operations[groups[-1][0]].intensity.amount if groups else 0.0
        if groups and (here < _NEAR * first or first >= edge):
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


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
        edge=f"{edge:,.0f}",
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
