"""Curves: spread of activations and gradients by depth, a loss on random labels, a traced `if`."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.models.initialisation import Spread
from core.tensors.against_ndarray import TracedIf

HEIGHT_PX: Final = 380
PRESENT_HEIGHT_PX: Final = 400
_COLORS: Final = ("accent", "candidate_high", "optimizer", "muted", "backward", "activations")
_DASHES: Final = ("solid", "dash", "dot", "dashdot", "longdash", "solid")
_SMALLEST, _LARGEST = 1e-30, 1e30  # beyond them an axis has no place
_MOST_TICKS: Final = 6


def spread_picture(spreads: Mapping[str, Spread], kind: str, look: Look) -> Picture:
    """Return a curve for each scheme over the layers, on a logarithmic axis.

    Args:
        spreads: Translated name of a scheme -> what was measured.
        kind: "activations" or "gradients".
        look: How the reader wants to see.
    """
    drawing = Drawing()
    curves = {name: getattr(spread, kind) for name, spread in spreads.items()}
    for (name, values), color, dash in zip(curves.items(), _COLORS, _DASHES, strict=False):
        drawing.scatter(
            x=list(range(len(values))), y=[_drawn(value) for value in values], name=name,
            mode="lines+markers", line={"color": look.color(color), "width": 3, "dash": dash},
            hovertemplate="%{x}: %{y:.3g}<extra>" + name + "</extra>",
        )  # fmt: skip
    of = _("activations") if kind == "activations" else _("gradients")
    title = _("standard deviation of the {of}").format(of=of)
    drawn = [y for values in curves.values() for value in values if (y := _drawn(value))]
    axes = {
        "xaxis": {"title": {"text": _("layer")}},
        "yaxis": {"title": {"text": title}, **_decades(drawn)},
    }
    parts = [f"{name} {values[0]:.3g} → {values[-1]:.3g}" for name, values in curves.items()]
    alt = _("Standard deviation of the {of}, first to last layer: {parts}.").format(
        of=of, parts=_(", ").join(parts)
    )
    length = max(map(len, curves.values()))
    table: dict[str, Sequence[Any]] = {_("layer"): list(range(length)), **curves}
    return Picture(figure=drawing.figure(curve_layout(look, axes)), alt=alt, table=table)


def floor_picture(losses: Sequence[float], num_classes: int, look: Look) -> Picture:
    """Return the loss of every step above the floor ln(classes) of random labels."""
    drawing, floor, steps = Drawing(), math.log(num_classes), list(range(1, len(losses) + 1))
    drawing.scatter(
        x=steps, y=list(losses), name=_("training loss"), mode="lines+markers",
        line={"color": look.color("training_loss"), "width": 3},
    )  # fmt: skip
    drawing.scatter(
        x=[steps[0], steps[-1]], y=[floor, floor], name=f"ln {num_classes}", mode="lines",
        line={"color": look.color("reference"), "width": 3, "dash": "dash"},
    )  # fmt: skip
    axes = {"xaxis": {"title": {"text": _("step")}}, "yaxis": {"title": {"text": _("loss")}}}
    alt = _("The loss on random labels goes from {first} to {last}; ln {count} is {floor}.").format(
        first=f"{losses[0]:.3f}", last=f"{losses[-1]:.3f}", count=num_classes, floor=f"{floor:.4f}"
    )
    table: dict[str, Sequence[Any]] = {_("step"): steps, _("loss"): list(losses)}
    return Picture(figure=drawing.figure(curve_layout(look, axes)), alt=alt, table=table)


def traced_picture(traced: TracedIf, look: Look) -> Picture:
    """Return what a function with an `if` returns, and what its graph returns, by rows."""
    drawing, rows = Drawing(), list(traced.eager)
    for name, values, color, symbol in (
        (_("Python, eagerly"), traced.eager, "forward", "circle"),
        (_("traced graph"), traced.traced, "backward", "x"),
    ):
        drawing.scatter(
            x=rows, y=list(values.values()), name=name, mode="lines+markers",
            marker={"size": 14, "symbol": symbol}, line={"color": look.color(color), "width": 3},
        )  # fmt: skip
    drawing.shape(
        type="line", xref="x", yref="paper", x0=traced.traced_with, x1=traced.traced_with, y0=0,
        y1=1, line={"color": look.color("muted"), "width": 2, "dash": "dot"},
    )  # fmt: skip
    axes: dict[str, dict[str, Any]] = {
        "xaxis": {"title": {"text": _("rows of x")}, "dtick": 1},
        "yaxis": {"title": {"text": "f(x)[0]"}},
    }
    wrong = [str(n) for n in rows if traced.eager[n] != traced.traced[n]]
    alt = _("Traced with {rows} rows, the graph differs from Python with {wrong} rows.").format(
        rows=traced.traced_with, wrong=_(", ").join(wrong) or "0"
    )
    table: dict[str, Sequence[Any]] = {
        _("rows of x"): rows,
        _("Python, eagerly"): list(traced.eager.values()),
        _("traced graph"): list(traced.traced.values()),
    }
    return Picture(figure=drawing.figure(curve_layout(look, axes)), alt=alt, table=table)


def _drawn(value: float) -> float | None:
    return value if _SMALLEST <= value <= _LARGEST else None


def _decades(values: Sequence[float]) -> dict[str, Any]:
    low = math.floor(math.log10(min(values, default=1)))
    high = max(math.ceil(math.log10(max(values, default=1))), low + 1)
    every = -(-(high - low) // _MOST_TICKS)
    return {
        "type": "log", "range": [low - 0.1, high + 0.1], "dtick": every, "exponentformat": "power",
    }  # fmt: skip


def curve_layout(look: Look, axes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the layout of a chart of this page with these axes."""
    layout = look.layout()
    return layout | {
        "height": PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
        "margin": {"l": 8, "r": 8, "t": 2.8 * layout["font"]["size"], "b": 8},
        **{name: {**layout[name], "zeroline": False, "fixedrange": True, **axis}
           for name, axis in axes.items()},
    }  # fmt: skip
