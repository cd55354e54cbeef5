"""Runs side by side: their validation losses in one picture."""

from collections.abc import Mapping, Sequence
from typing import Final

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _
from core.train.evaluations import Curve

MAX_RUNS: Final = 6
# Colour, dash and mark of each line: whoever sees no colours still tells six runs apart.
_LINES: Final = (
    ("validation_loss", "solid", "circle"),
    ("training_loss", "dash", "square"),
    ("activations", "dot", "diamond"),
    ("optimizer", "dashdot", "triangle-up"),
    ("gradients", "longdash", "x"),
    ("kv_cache", "longdashdot", "star"),
)


def compare_losses(curves: Sequence[Curve], mode: Mode, *, present: bool = False) -> go.Figure:
    """Return one line a run: validation loss in nats per token over optimizer steps.

    Raises:
        ValueError: If there are more runs than lines that can be told apart, or none.
    """
    if not 1 <= len(curves) <= MAX_RUNS:
        raise ValueError(
            _("Choose 1 to {most} runs to compare, not {count}.").format(
                most=MAX_RUNS, count=len(curves)
            )
        )
    base = plotly_layout(mode, present=present)
    titles = {"xaxis": _("step"), "yaxis": _("validation loss (nats per token)")}
    axes = {
        name: base[name] | {"title": {"text": text}, "zeroline": False}
        for name, text in titles.items()
    }
    lines = zip(curves, _names(curves), _LINES, strict=False)
    return go.Figure(
        data=[_line(curve, name, mode, style) for curve, name, style in lines],
        layout=base | axes | {"template": "none", "showlegend": True},
    )


def _line(curve: Curve, name: str, mode: Mode, style: tuple[str, str, str]) -> go.Scatter:
    token, dash, symbol = style
    color = COLORS[mode][token]
    return go.Scatter(
        x=list(curve.steps),
        y=list(curve.losses),
        name=name,
        mode="lines+markers",
        line={"color": color, "dash": dash, "width": 2},
        marker={"symbol": symbol, "size": 8, "color": color},
        hovertemplate="%{x}: %{y:.3f}<extra>%{fullData.name}</extra>",
    )


def compare_alt(curves: Sequence[Curve]) -> str:
    """Return the picture in words: the lowest loss of each run, and which run has the lowest."""
    names = _names(curves)
    known = [(name, curve.best) for name, curve in zip(names, curves, strict=True)]
    parts = [
        _("{name} {loss} at step {step}").format(name=name, loss=f"{best[1]:.3f}", step=best[0])
        for name, best in known
        if best
    ]
    if not parts:
        return _("None of these runs has been evaluated yet.")
    winner = min((best[1], name) for name, best in known if best)[1]
    return _("Lowest validation loss: {parts}. The lowest of all has {winner}.").format(
        parts="; ".join(parts), winner=winner
    )


def compare_table(curves: Sequence[Curve]) -> Mapping[str, Sequence[object]]:
    """Return step by step the loss of each run; empty where a run was not evaluated."""
    steps = sorted({step for curve in curves for step in curve.steps})
    table: dict[str, Sequence[object]] = {_("step"): steps}
    for name, curve in zip(_names(curves), curves, strict=True):
        by_step = dict(zip(curve.steps, curve.losses, strict=True))
        table[name] = [by_step.get(step, "") for step in steps]
    return table


def _names(curves: Sequence[Curve]) -> list[str]:
    """Return the titles; runs of the same title are told apart by the end of their name."""
    titles = [curve.title for curve in curves]
    return [
        curve.title if titles.count(curve.title) == 1 else f"{curve.title} {curve.run[-4:]}"
        for curve in curves
    ]
