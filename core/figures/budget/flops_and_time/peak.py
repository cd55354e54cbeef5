"""Shares of a device's peak: one speed by several conventions, and operations below its roof."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.budget.cluster import DeviceSpec
from core.budget.compute.intensity import Operation, bound, ridge
from core.budget.item import Item
from core.figures.budget.flops_frame import (
    HEIGHT_PX,
    PRESENT_HEIGHT_PX,
    framed,
    hatched,
    intensity_words,
    log_axis,
    powers,
    rows_of_bars,
)
from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.units import format_count, format_flops_per_second, format_percent

_CONVENTIONS: Final[Mapping[str, tuple[str, str]]] = {
    "hardware (HFU), causal": ("backward", "/"),
    "sparse peak": ("norms", "x"),
}
_USUAL: Final = ("forward", "")
_BEYOND: Final = 1.0  # nothing runs faster than its peak
_NEAR_THE_EDGE: Final = 20  # times the left end: words to the left would leave the picture
_LEFT, _RIGHT = 0.05, 2e5  # FLOP/byte, the ends of the axis
_NEAR: Final = 1.6  # operations whose intensities differ by less share a label
_MOST_NAMES: Final = 2
_PLOT_SHARE: Final = 0.7  # of a picture's height: the rest is its legend and the lower axis
_BESIDE_PX: Final = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class _Mark:
    """An operation below the roof.

    Attributes:
        name: Translated.
        intensity: FLOPs for each byte that it moves.
        share: Of the peak, at most.
        height: That share in FLOP/s.
        memory_bound: Whether memory, not compute, limits it.
    """

    name: str
    intensity: float
    share: float
    height: float
    memory_bound: bool


def mfu_picture(shares: Sequence[Item], look: Look) -> Picture:
    """Return one bar a convention and the line that none may cross.

    Args:
        shares: What `core.budget.compute.conventions.mfu_conventions` gave.
        look: How the reader wants to see.
    """
    drawing = Drawing()
    names = [_(share.name) for share in shares]
    written = [format_percent(share.amount) for share in shares]
    _draw_shares(drawing, shares, look)
    color = look.color("refused")
    drawing.shape(
        type="line", x0=1, x1=1, y0=0, y1=1, yref="paper",
        line={"color": color, "width": 2, "dash": "dash"},
    )  # fmt: skip
    drawing.note(
        x=1, y=1, yref="paper", yanchor="bottom", text=_("the peak"), font={"color": color}
    )
    end = max(1.0, *(share.amount for share in shares)) * 1.15
    x = {"range": [0, end], "tickformat": ".3~%", "title": _("share of the peak")}
    said = [f"{name} {share}" for name, share in zip(names, written, strict=True)]
    table = {
        _("convention"): names,
        _("share of the peak"): written,
        _("formula"): [share.formula for share in shares],
        _("source"): [_(share.source) for share in shares],
    }
    return Picture(
        figure=rows_of_bars(drawing, look, num_rows=len(shares), x=x),
        alt=_("The same speed as a share of the peak: {shares}.").format(shares=_(", ").join(said)),
        table=table,
    )


def _draw_shares(drawing: Drawing, shares: Sequence[Item], look: Look) -> None:
    looks = [_CONVENTIONS.get(share.name, _USUAL) for share in shares]
    names = [_(share.name) for share in shares]
    drawing.bar(
        orientation="h",
        x=[share.amount for share in shares],
        y=names,
        marker=hatched(
            [look.color(meaning) for meaning, _pattern in looks],
            [pattern for _meaning, pattern in looks],
        ),
        customdata=[format_percent(share.amount) for share in shares],
        hovertemplate="%{y}: %{customdata}<extra></extra>",
        showlegend=False,
    )
    for name, share in zip(names, shares, strict=True):
        text = f" {format_percent(share.amount)}" + (" ✗" if share.amount > _BEYOND else "")
        drawing.note(x=share.amount, y=name, text=text, xanchor="left")


def roofline_picture(
    operations: Sequence[Operation], device: DeviceSpec, peak: float, look: Look
) -> Picture:
    """Return the roof of a device with a mark for each operation on it.

    Args:
        operations: What stands below the roof; the last ones are drawn on top.
        device: Whose roof it is.
        peak: Its dense FLOP/s in the dtype that is used.
        look: How the reader wants to see.
    """
    drawing, edge = Drawing(), float(ridge(peak, device.bandwidth).amount)
    marks = [_mark(each, device, peak, edge) for each in operations]
    found = [edge, *(mark.intensity for mark in marks)]
    ends = min(_LEFT, min(found) / 4), max(_RIGHT, max(found) * 4)
    _draw_roof(drawing, device, peak, ends, look)
    _draw_marks(drawing, marks, look)
    lowest = min(peak, *(mark.height for mark in marks)) / 8
    _draw_names(drawing, marks, edge, math.log10(peak * 4 / lowest), look)
    x = _powers_axis(_("arithmetic intensity (FLOP/byte)"), *ends, _intensity_tick)
    y = _powers_axis(_("attainable FLOP/s"), lowest, peak * 4, _rate_tick)
    table = {
        _("operation"): [mark.name for mark in marks],
        _("runs"): [f"{each.times:,}" for each in operations],
        _("FLOPs"): [f"{each.flops.amount:,.4g}" for each in operations],
        _("bytes moved"): [f"{each.moved.amount:,.4g}" for each in operations],
        _("arithmetic intensity (FLOP/byte)"): [f"{mark.intensity:,.4g}" for mark in marks],
        _("share of the peak, at most"): [format_percent(mark.share) for mark in marks],
    }
    waiting = [mark.name for mark in marks if mark.memory_bound]
    busy = [mark.name for mark in marks if not mark.memory_bound]
    alt = _(
        "Roofline of {device}, ridge point at {edge} FLOP/byte. Memory-bound: {waiting}. "
        "Compute-bound: {busy}."
    ).format(
        device=device.name,
        edge=intensity_words(edge),
        waiting=_(", ").join(waiting) or "-",
        busy=_(", ").join(busy) or "-",
    )
    return Picture(figure=framed(drawing, look, x=x, y=y), alt=alt, table=table)


def _mark(operation: Operation, device: DeviceSpec, peak: float, edge: float) -> _Mark:
    intensity = operation.intensity.amount
    share = bound(operation, peak, device.bandwidth).amount
    return _Mark(
        name=_(operation.name),
        intensity=intensity,
        share=share,
        height=peak * share,
        memory_bound=intensity < edge,
    )


def _draw_roof(
    drawing: Drawing, device: DeviceSpec, peak: float, ends: tuple[float, float], look: Look
) -> None:
    edge = float(ridge(peak, device.bandwidth).amount)
    drawing.scatter(
        x=[ends[0], edge, ends[1]],
        y=[ends[0] * device.bandwidth, peak, peak],
        mode="lines",
        name=device.name,
        line={"color": look.color("text"), "width": 3},
        hoverinfo="skip",
    )
    drawing.scatter(
        x=[edge, edge], y=[1, peak], mode="lines", showlegend=False, hoverinfo="skip",
        line={"color": look.color("reference"), "width": 2, "dash": "dot"},
    )  # fmt: skip
    drawing.note(
        x=math.log10(edge), y=math.log10(peak), yshift=14,
        text=f"{intensity_words(edge)} FLOP/byte",
        xanchor="left" if edge < _NEAR_THE_EDGE * ends[0] else "right",
    )  # fmt: skip


def _draw_marks(drawing: Drawing, marks: Sequence[_Mark], look: Look) -> None:
    for memory_bound, meaning, symbol, name in (
        (True, "backward", "circle", _("memory-bound")),
        (False, "forward", "diamond", _("compute-bound")),
    ):
        found = [mark for mark in marks if mark.memory_bound == memory_bound]
        drawing.scatter(
            x=[mark.intensity for mark in found],
            y=[mark.height for mark in found],
            mode="markers",
            name=name,
            marker={"color": look.color(meaning), "symbol": symbol, "size": 14},
            customdata=[_told(mark) for mark in found],
            hovertemplate="%{customdata}<extra></extra>",
        )


def _told(mark: _Mark) -> str:
    return _("{name}: {intensity} FLOP/byte, at most {share} of the peak").format(
        name=mark.name,
        intensity=intensity_words(mark.intensity),
        share=format_percent(mark.share),
    )


def _draw_names(
    drawing: Drawing, marks: Sequence[_Mark], edge: float, decades: float, look: Look
) -> None:
    """Name the marks, right of them and below the roof; those that stand together share a label.

    Args:
        drawing: What the labels are added to.
        marks: The operations.
        edge: The ridge point; labels of what lies beyond it stand below the flat roof.
        decades: Powers of ten of the upright axis.
        look: How the reader wants to see.
    """
    line_px, most = (26, 1) if look.present else (20, _MOST_NAMES)
    px_each = (PRESENT_HEIGHT_PX if look.present else HEIGHT_PX) * _PLOT_SHARE / decades
    above = math.inf
    for group in reversed(_neighbours(marks, edge)):
        is_flat = group[0].intensity >= edge
        first = group[0 if is_flat else -1]
        place = math.log10(first.height) * px_each - is_flat * line_px
        above = min(place, above - line_px)
        more = f" +{len(group) - most}" if len(group) > most else ""
        drawing.note(
            x=math.log10(first.intensity),
            y=math.log10(first.height),
            text=_(", ").join(mark.name for mark in group[:most]) + more,
            xshift=_BESIDE_PX,
            yshift=above - math.log10(first.height) * px_each,
            xanchor="left",
        )


def _neighbours(marks: Sequence[_Mark], edge: float) -> list[list[_Mark]]:
    """Return marks in groups, from few FLOPs a byte to many."""
    groups: list[list[_Mark]] = []
    for mark in sorted(marks, key=lambda mark: mark.intensity):
        first = groups[-1][0].intensity if groups else 0.0
        if groups and (mark.intensity < _NEAR * first or first >= edge):
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return groups


def _powers_axis(
    title: str, low: float, high: float, written: Callable[[float], str]
) -> dict[str, object]:
    """Return an axis on which every power of ten has a tick."""
    ends = [math.log10(low), math.log10(high)]
    ticks = powers(math.ceil(ends[0]), math.floor(ends[1]))
    return log_axis(ticks, written, title=title, range=ends)


def _intensity_tick(intensity: float) -> str:
    return format_count(intensity).replace(".0 ", " ") if intensity >= 10_000 else f"{intensity:,g}"


def _rate_tick(rate: float) -> str:
    return format_flops_per_second(rate).replace(".00 ", " ").replace(".0 ", " ")
