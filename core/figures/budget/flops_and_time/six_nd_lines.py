"""Exact FLOPs over 6ND for several models as the context grows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import plotly.graph_objects as go

from core.figures.budget.flops_frame import framed, joined
from core.figures.drawing import Drawing
from core.figures.picture import Look
from core.figures.theme import COLORS, Mode
from core.language import _

_TICKS: Final = (1, 1.5, 2, 3, 5, 10, 20, 50)
_CLOSE_TICKS: Final = (1.5, 3)  # too close to their neighbours in large text
_OTHERS: Final = (("format_b", "dot"), ("format_c", "dashdot"), ("format_d", "longdash"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """One model: its ratios at each context."""

    name: str
    causal: Sequence[float]
    full: Sequence[float]


def six_nd_lines(
    contexts: Sequence[int],
    curves: Sequence[Curve],
    here: int,
    mode: Mode,
    *,
    present: bool = False,
) -> go.Figure:
    """Return the chosen model's two lines, thin lines of others, and the rule itself at 1.

    Args:
        contexts: Tokens of a sequence.
        curves: The chosen model first.
        here: Place among `contexts` that is marked.
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    drawing, color = Drawing(), COLORS[mode]
    _draw_curves(drawing, contexts, curves, color)
    _draw_rule(drawing, contexts, color)
    _draw_here(drawing, contexts[here], (curves[0].causal[here], curves[0].full[here]), color)
    shown = contexts[:: 2 if present else 1]
    ticks = [tick for tick in _TICKS if not (present and tick in _CLOSE_TICKS)]
    return framed(
        drawing,
        Look(mode=mode, present=present),
        x={
            "title": _("context in tokens"),
            "type": "log",
            "tickvals": list(shown),
            "ticktext": [f"{each // 1024} k" if each >= 1024 else str(each) for each in shown],
        },
        y={
            "title": _("exact FLOPs / 6ND"),
            "type": "log",
            "tickvals": ticks,
            "ticktext": [f"{tick:g}" for tick in ticks],
        },
    )


def _draw_curves(
    drawing: Drawing, contexts: Sequence[int], curves: Sequence[Curve], color: Mapping[str, str]
) -> None:
    """Draw thin lines of the others, then the chosen model's two."""
    chosen, *others = curves
    for curve, (token, dash) in zip(others, _OTHERS, strict=False):
        _line(drawing, contexts, curve.causal, curve.name, color[token], dash, 2)
    name = _("{model}, causal").format(model=chosen.name)
    _line(drawing, contexts, chosen.causal, name, color["format_a"], "solid", 4)
    name = _("{model}, full attention").format(model=chosen.name)
    _line(drawing, contexts, chosen.full, name, color["format_a"], "dash", 4)


def _draw_rule(drawing: Drawing, contexts: Sequence[int], color: Mapping[str, str]) -> None:
    drawing.scatter(
        x=[contexts[0], contexts[-1]], y=[1, 1], mode="lines", name=_("the rule 6ND"),
        hoverinfo="skip", line={"color": color["reference"], "width": 2},
    )  # fmt: skip


def _draw_here(
    drawing: Drawing, context: int, ratios: Sequence[float], color: Mapping[str, str]
) -> None:
    """Mark the chosen context on the chosen model's lines."""
    drawing.scatter(
        x=[context] * len(ratios), y=list(ratios), mode="markers",
        showlegend=False, marker={"color": color["format_a"], "size": 14},
        hovertemplate="%{x:,}: %{y:.3f}<extra></extra>",
    )  # fmt: skip


def _line(  # noqa: PLR0913, PLR0917  a line has a place, a name and a look
    drawing: Drawing,
    contexts: Sequence[int],
    ratios: Sequence[float],
    name: str,
    color: str,
    dash: str,
    width: int,
) -> None:
    drawing.scatter(
        x=list(contexts),
        y=list(ratios),
        mode="lines",
        name=name,
        line={"color": color, "dash": dash, "width": width},
        hovertemplate="%{x:,}: %{y:.3f}<extra>%{fullData.name}</extra>",
    )


def six_nd_alt(contexts: Sequence[int], curves: Sequence[Curve], here: int) -> str:
    """Return the picture in words: every model at the marked context."""
    parts = [
        _("{model} {causal} causal and {full} full").format(
            model=curve.name, causal=f"{curve.causal[here]:.3f}", full=f"{curve.full[here]:.3f}"
        )
        for curve in curves
    ]
    return _("Exact FLOPs over 6ND at {context} tokens: {models}.").format(
        context=f"{contexts[here]:,}", models=joined(parts)
    )


def six_nd_table(
    contexts: Sequence[int], curves: Sequence[Curve]
) -> Mapping[str, Sequence[object]]:
    """Return one row a context, two columns a model."""
    columns: dict[str, Sequence[object]] = {_("context"): [f"{each:,}" for each in contexts]}
    for curve in curves:
        columns[_("{model}, causal").format(model=curve.name)] = list(curve.causal)
        columns[_("{model}, full attention").format(model=curve.name)] = list(curve.full)
    return columns
