"""Curves over steps: learning rates, losses, the values of a parameter."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.train.optimizers.rule import Rule, Step
from core.units import format_exact

HEIGHT_PX: Final = 330
MOST_POINTS: Final = 1000  # drawn of a curve
MOST_TICKS: Final = 7
HIGHEST: Final = 1e30  # what is farther up has no place on an axis
_DASHES: Final = ("solid", "dash", "dot", "dashdot")
_COLORS: Final = ("accent", "candidate_high", "optimizer", "muted")
Points = Sequence[tuple[int, float]]
_NO_POINTS: Final[Mapping[str, Points]] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Axes:
    """What the axes of curves say, translated; `log` for the vertical one.

    `first` is the number of the first step.
    """

    x: str
    y: str
    log: bool = False
    first: int = 0


def curves_picture(
    curves: Mapping[str, Sequence[float]],
    axes: Axes,
    look: Look,
    *,
    points: Mapping[str, Points] = _NO_POINTS,
    colors: Sequence[str] = _COLORS,
    marked: tuple[int, str] | None = None,
) -> Picture:
    """Return curves over the number of the step.

    Args:
        curves: Translated name -> value at every step; they may end at different steps.
        axes: What the axes say.
        look: How the reader wants to see.
        points: Of some curves, steps and values that are marked beside it.
        colors: Meaning of each curve's colour.
        marked: A step and what is said of it.
    """
    drawing = Drawing()
    for (name, values), color, dash in zip(curves.items(), colors, _DASHES, strict=False):
        xs, ys = _thinned(values, axes.first)
        drawing.scatter(
            x=xs, y=ys, name=name, showlegend=len(curves) > 1 or bool(points),
            mode="lines" if len(xs) > 40 else "lines+markers",
            line={"color": look.color(color), "width": 3, "dash": dash}, marker={"size": 7},
            hovertemplate="%{x:,}: %{y:.4g}<extra>" + name + "</extra>",
        )  # fmt: skip
        if name in points:
            _draw_points(drawing, name, points[name], look.color(color))
    if marked:
        _mark(drawing, *marked, look)
    ends = [value for values in curves.values() for value in values if 0 < value <= HIGHEST]
    fields = curve_axes(look, axes)
    fields["yaxis"] |= decades(ends) if axes.log else {}
    return Picture(
        figure=drawing.figure(look.layout() | fields),
        alt=_sentence(curves, axes),
        table=_table(curves, axes),
    )


def _draw_points(drawing: Drawing, name: str, points: Points, color: str) -> None:
    told = _("{side}: validation").format(side=name)
    drawing.scatter(
        x=[step for step, _value in points], y=[value for _step, value in points], name=told,
        mode="markers", marker={"color": color, "size": 10, "symbol": "diamond"},
        hovertemplate="%{x:,}: %{y:.4f}<extra>" + told + "</extra>",
    )  # fmt: skip


def _mark(drawing: Drawing, step: int, text: str, look: Look) -> None:
    color = look.color("text")
    line = {"color": color, "width": 1, "dash": "dash"}
    drawing.shape(type="line", x0=step, x1=step, y0=0, y1=1, yref="paper", line=line)
    note = {"x": step, "y": 1, "yref": "paper", "yanchor": "top", "xanchor": "auto"}
    drawing.note(**note, font={"color": color}, text=text)


def curve_axes(look: Look, axes: Axes) -> dict[str, Any]:
    """Return the height and the axes of curves, with room for a legend above them."""
    layout = look.layout()
    return {
        "height": HEIGHT_PX,
        "margin": {"l": 8, "r": 8, "t": layout["font"]["size"] * 2.6, "b": 8},
        "xaxis": layout["xaxis"] | {"title": {"text": axes.x}, "zeroline": False},
        "yaxis": layout["yaxis"] | {"title": {"text": axes.y}, "zeroline": False},
    }


def decades(values: Sequence[float]) -> dict[str, Any]:
    """Return a logarithmic axis from power of ten to power of ten, with room for the labels."""
    low, high = min(values, default=1.0), max(values, default=1.0)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    last = max(last, first + 1)
    every = -(-(last - first) // MOST_TICKS)
    return {
        "type": "log", "range": [first, last], "dtick": every, "tick0": first,
        "exponentformat": "power",
    }  # fmt: skip


def steps_table(rule: Rule, steps: Sequence[Step]) -> dict[str, Any]:
    """Return the state of one parameter at every step, in the symbols of the papers.

    Only what the rule has: a hat stands on a moment that is corrected.
    """
    columns = {"g": "gradient"}
    columns |= {"m": "m"} if rule.momentum != "none" else {}
    columns |= {"v": "v"} if rule.second != "none" else {}
    if rule.looks_ahead:
        columns[_("with Nesterov")] = "m_hat"
    elif rule.corrects_m:
        columns["m̂"] = "m_hat"
    columns |= {"v̂": "v_hat"} if rule.corrects_v else {}
    columns[_("update")] = "update"
    return {
        "t": list(range(1, len(steps) + 1)),
        "p": [step.before[0] for step in steps],
        **{head: [getattr(step, name)[0] for step in steps] for head, name in columns.items()},
        _("p after"): [step.after[0] for step in steps],
    }


def _thinned(values: Sequence[float], first: int) -> tuple[list[int], list[float | None]]:
    every = -(-len(values) // MOST_POINTS) if values else 1
    steps = sorted({*range(0, len(values), every), *([len(values) - 1] if values else [])})
    ys = [values[step] if abs(values[step]) <= HIGHEST else None for step in steps]
    return [step + first for step in steps], ys


def _sentence(curves: Mapping[str, Sequence[float]], axes: Axes) -> str:
    parts = [
        _("{name} goes from {start} to {end} at {x} {last}").format(
            name=name,
            start=f"{values[0]:.4g}",
            end=_("no number") if math.isnan(values[-1]) else f"{values[-1]:.4g}",
            x=axes.x,
            last=format_exact(len(values) - 1 + axes.first),
        )
        + _turn(values, axes)
        for name, values in curves.items()
        if values
    ]
    nothing = _("nothing was computed")
    return _("{y}: {parts}.").format(y=axes.y, parts=_("; ").join(parts) or nothing)


def _turn(values: Sequence[float], axes: Axes) -> str:
    low, high = sorted((values[0], values[-1]))
    steps = [step for step, value in enumerate(values) if math.isfinite(value)]
    at = max(steps, key=lambda step: max(low - values[step], values[step] - high), default=0)
    turn = f"{values[at]:.4g}"
    if turn in {f"{low:.4g}", f"{high:.4g}"}:
        return ""
    return _(", by way of {value} at {x} {step}").format(
        value=turn, x=axes.x, step=format_exact(at + axes.first)
    )


def _table(curves: Mapping[str, Sequence[float]], axes: Axes) -> dict[str, Any]:
    length = max((len(values) for values in curves.values()), default=0)
    columns = {
        name: [None if math.isnan(value) else value for value in values]
        + [None] * (length - len(values))
        for name, values in curves.items()
    }
    return {axes.x: list(range(axes.first, axes.first + length)), **columns}


def bar_axes(look: Look, x: str, y: str) -> dict[str, Any]:
    """Return the same of a row of bars, which nobody zooms."""
    fields = curve_axes(look, Axes(x=x, y=y))
    fields["xaxis"] |= {"fixedrange": True}
    fields["yaxis"] |= {"fixedrange": True}
    return fields
