"""Throughput over latency: more sequences give more tokens/s and longer waits, up to an end."""

from collections.abc import Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from core.budget.serving.throughput import Curve, CurvePoint
from core.figures.drawing import Drawing
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import N_, _
from core.units import format_count, format_rate, format_seconds

HEIGHT_PX: Final = 330
PRESENT_HEIGHT_PX: Final = 330
_APART_X, _APART_Y = 0.04, 0.09  # of the picture, between two names
BOUNDS: Final[Mapping[str, str]] = {
    "reading": N_("waits for reading"),
    "computing": N_("waits for computing"),
}
_SYMBOLS: Final = {"reading": "circle", "computing": "square"}


def latency_figure(curve: Curve, chosen: int, mode: Mode, *, present: bool = False) -> go.Figure:
    """Return the curve from one sequence to many, the plan and the end of memory marked.

    Args:
        curve: What `core.budget.serving.throughput` found.
        chosen: The plan's number of sequences.
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    layout = plotly_layout(mode, present=present)
    drawing, color = Drawing(), COLORS[mode]
    inside = [point for point in curve.points if point.fits]
    outside = [point for point in curve.points if not point.fits]
    names = _names(curve)
    beyond = (_("does not fit"), color["other"], "dot", 6)
    unnamed = ["" for _point in inside[-1:]]  # the line goes on from where the other one ends
    _draw_line(drawing, [*inside[-1:], *outside], unnamed + names[len(inside) :], beyond)
    _draw_line(drawing, inside, names, (_("fits"), color["throughput"], "solid", 9))
    _mark_end(drawing, curve, color)
    _mark_chosen(drawing, curve, chosen, color)
    axis = {"zeroline": False, "fixedrange": True}
    return drawing.figure(
        layout
        | {
            "template": "none",
            "xaxis": layout["xaxis"] | axis | {"title": {"text": _("time per token (ms)")}},
            "yaxis": layout["yaxis"]
            | axis
            | {"title": {"text": _("tokens/s of one device"), "standoff": 8}}
            | {"rangemode": "tozero"},
            "height": PRESENT_HEIGHT_PX if present else HEIGHT_PX,
            "margin": {"l": 8, "r": 24, "t": 34, "b": 8},
        }
    )


def _draw_line(
    drawing: Drawing,
    points: Sequence[CurvePoint],
    names: Sequence[str],
    look: tuple[str, str, str, int],
) -> None:
    name, color, dash, size = look
    if not points:
        return
    drawing.scatter(
        **_places(points),
        mode="lines+markers+text",
        name=name,
        text=names,
        textposition="bottom right",
        line={"color": color, "dash": dash, "width": 2.5},
        marker={"color": color, "size": size, "symbol": [_SYMBOLS[p.bound] for p in points]},
        customdata=[_words(point) for point in points],
        hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
    )


def _names(curve: Curve) -> list[str]:
    """Return each point's number of sequences, left out where it would lie on another name."""
    width = curve.points[-1].seconds_per_token - curve.points[0].seconds_per_token
    height = max(point.tokens_per_second for point in curve.points)
    named: list[CurvePoint] = [each for each in (curve.last_that_fits,) if each]
    names = []
    for point in curve.points:
        near = any(
            abs(point.seconds_per_token - other.seconds_per_token) < _APART_X * width
            and abs(point.tokens_per_second - other.tokens_per_second) < _APART_Y * height
            for other in named
        )
        names.append("" if near else f"{point.concurrency:,}")
        named += [] if near else [point]
    return names


def _places(points: Sequence[CurvePoint]) -> dict[str, list[float]]:
    return {
        "x": [1e3 * point.seconds_per_token for point in points],
        "y": [point.tokens_per_second for point in points],
    }


def _words(point: CurvePoint) -> str:
    return _("{count} at once: {latency} per token, {speed} of one device, {bound}").format(
        count=f"{point.concurrency:,}",
        latency=format_seconds(point.seconds_per_token),
        speed=format_rate(point.tokens_per_second, _("tokens")),
        bound=_(BOUNDS[point.bound]),
    )


def _mark_end(drawing: Drawing, curve: Curve, color: Mapping[str, str]) -> None:
    end = curve.last_that_fits
    font = {"color": color["refused"]}
    if end is None:
        text = _("not even one sequence fits")
        drawing.note(xref="paper", yref="paper", x=0.5, y=0.5, text=text, font=font)
        return
    marker = {"color": color["refused"], "size": 16, "symbol": "x"}
    _mark(drawing, end, _("KV memory ends it"), marker)
    text = _("KV memory ends it at {count}").format(count=f"{end.concurrency:,}")
    place = {"x": 1e3 * end.seconds_per_token, "y": end.tokens_per_second, "xshift": -12}
    drawing.note(**place, text=text, xanchor="right", yanchor="bottom", font=font)


def _mark(drawing: Drawing, point: CurvePoint, name: str, marker: Mapping[str, object]) -> None:
    """Draw one point that stands out."""
    drawing.scatter(
        **_places([point]),
        mode="markers",
        name=name,
        marker=marker,
        customdata=[_words(point)],
        hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
    )


def _mark_chosen(drawing: Drawing, curve: Curve, chosen: int, color: Mapping[str, str]) -> None:
    found = next(point for point in curve.points if point.concurrency == chosen)
    marker = {"color": color["text"], "size": 14, "symbol": "diamond-open", "line": {"width": 3}}
    _mark(drawing, found, _("your plan"), marker)


def latency_alt(curve: Curve) -> str:
    """Return the picture in words."""
    first, last = curve.points[0], curve.last_that_fits
    if last is None:
        return _("Throughput over latency: not even one sequence fits beside the weights.")
    return _("Throughput over latency: {first}; {last}, where KV memory ends the curve.").format(
        first=_words(first), last=_words(last)
    )


def latency_table(curve: Curve) -> Mapping[str, Sequence[object]]:
    """Return one row for each number of sequences."""
    points = curve.points
    return {
        _("sequences at once"): [point.concurrency for point in points],
        _("time per token"): [format_seconds(point.seconds_per_token) for point in points],
        _("tokens/s per reader"): [format_count(1 / point.seconds_per_token) for point in points],
        _("tokens/s of one device"): [format_count(point.tokens_per_second) for point in points],
        _("what it waits for"): [_(BOUNDS[point.bound]) for point in points],
        _("Device memory"): [_("fits") if point.fits else _("does not fit") for point in points],
    }
