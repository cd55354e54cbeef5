"""The loss that a given amount of compute buys, over the size of the model."""

from collections.abc import Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from core.budget.compute.chinchilla import FITS, best_params, loss_for_size
from core.figures.budget.flops_frame import HEIGHT_PX, framed
from core.figures.drawing import Drawing
from core.figures.picture import Look
from core.figures.theme import COLORS, Mode
from core.language import _
from core.units import format_count

_SPAN: Final = 60.0  # times smaller and larger than the best model
_POINTS: Final = 81
_LOOKS: Final = (("format_a", "solid"), ("format_b", "dash"))
Limits = Mapping[str, float]  # a translated label -> parameters that fit


def sizes(flops: float) -> list[float]:
    """Return the sizes of models that are drawn: around the best one."""
    best = float(best_params(flops).amount)
    return [best * _SPAN ** (place / (_POINTS // 2) - 1) for place in range(_POINTS)]


def iso_flop(flops: float, limits: Limits, mode: Mode, *, present: bool = False) -> go.Figure:
    """Return a line a fitted law, the best size, and what the memory holds.

    Args:
        flops: Compute that is spent.
        limits: Sizes beyond which something does not fit, by their words.
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    drawing, color = Drawing(), COLORS[mode]
    around = sizes(flops)
    losses = {fit.name: [loss_for_size(flops, size, fit) for size in around] for fit in FITS}
    _draw_losses(drawing, flops, around, losses, color)
    _draw_best(drawing, flops, color)
    top = max(curve[0] for curve in losses.values())
    _draw_limits(drawing, limits, around, top, mode)
    lowest = min(min(curve) for curve in losses.values())
    return framed(
        drawing,
        Look(mode=mode, present=present),
        x={"title": _("parameters"), "type": "log", **_count_ticks(around)},
        y={
            "title": _("predicted loss (nats)"),
            "range": [lowest - 0.05, min(top, lowest + 1.2) + 0.1],
        },
        height=HEIGHT_PX,  # also on a projector: its legend takes three rows
    )


def _draw_losses(
    drawing: Drawing,
    flops: float,
    around: Sequence[float],
    losses: Mapping[str, Sequence[float]],
    color: Mapping[str, str],
) -> None:
    for (name, curve), (token, dash) in zip(losses.items(), _LOOKS, strict=True):
        drawing.scatter(
            x=around, y=curve, mode="lines", name=name,
            line={"color": color[token], "dash": dash, "width": 3},
            customdata=[[format_count(size), format_count(flops / (6 * size))] for size in around],
            hovertemplate=_("{size} on {tokens} tokens: {loss} nats").format(
                size="%{customdata[0]}", tokens="%{customdata[1]}", loss="%{y:.3f}"
            ),
        )  # fmt: skip


def _draw_best(drawing: Drawing, flops: float, color: Mapping[str, str]) -> None:
    best = float(best_params(flops).amount)
    drawing.scatter(
        x=[best], y=[loss_for_size(flops, best, FITS[1])], mode="markers",
        name=_("20 tokens for each parameter"), hoverinfo="skip",
        marker={"color": color["text"], "size": 15, "symbol": "star"},
    )  # fmt: skip


def _draw_limits(
    drawing: Drawing, limits: Limits, around: Sequence[float], top: float, mode: Mode
) -> None:
    color = COLORS[mode]
    seen = [each for each in limits.items() if around[0] < each[1] < around[-1]]
    for (label, size), dash in zip(seen, ("dash", "dot", "dashdot"), strict=False):
        drawing.scatter(
            x=[size, size], y=[0, top + 10], mode="lines", hoverinfo="skip",
            name=f"{label}: {format_count(size)}",
            line={"color": color["refused"], "width": 2, "dash": dash},
        )  # fmt: skip


def _count_ticks(around: Sequence[float]) -> dict[str, object]:
    ticks = [10.0**power for power in range(3, 16) if around[0] <= 10.0**power <= around[-1]]
    return {"tickvals": ticks, "ticktext": [format_count(tick) for tick in ticks]}


def iso_flop_alt(flops: float, limits: Limits) -> str:
    """Return the picture in words."""
    best = float(best_params(flops).amount)
    text = _(
        "Loss over the size of the model for a fixed compute: lowest near {best}; ten times "
        "smaller {small} nats, ten times larger {large} nats, {here} at the best."
    ).format(
        best=format_count(best),
        small=f"{loss_for_size(flops, best / 10):.3f}",
        large=f"{loss_for_size(flops, best * 10):.3f}",
        here=f"{loss_for_size(flops, best):.3f}",
    )
    return " ".join([text, *(f"{label}: {format_count(size)}." for label, size in limits.items())])


def iso_flop_table(flops: float) -> Mapping[str, Sequence[object]]:
    """Return one row a size."""
    around = sizes(flops)[::8]
    return {
        _("parameters"): [format_count(size) for size in around],
        _("tokens"): [format_count(flops / (6 * size)) for size in around],
        **{fit.name: [loss_for_size(flops, size, fit) for size in around] for fit in FITS},
    }
