"""Amounts of compute: the loss that one buys over the size of the model, and a ladder of them."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

from core.budget.compute.chinchilla import (
    BESIROGLU,
    FITS,
    LossFit,
    best_params,
    loss_for_size,
    lowest_params,
    lowest_ratio,
)
from core.budget.item import KIND_WORDS, Item, Kind
from core.figures.budget.flops_frame import (
    HEIGHT_PX,
    framed,
    log_axis,
    powers,
    rows_of_bars,
    scientific,
)
from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.units import format_count, format_flops

_SPAN: Final = 60.0  # times smaller and larger than the best model
_POINTS: Final = 81
_LOOKS: Final = (("format_a", "solid"), ("format_b", "dash"))
_SYMBOLS: Final[Mapping[Kind, str]] = {
    "exact": "circle",
    "data sheet": "hexagon",
    "measured": "square",
    "bound": "triangle-left",  # the real number lies on this side
    "estimated": "diamond",
    "claimed": "star",
}
_RUNG_HEIGHT: Final = 1.85
_FIRST, _LAST = 6.8, 27.0  # powers of ten
_MIDDLE: Final = 1e17  # words of larger amounts stand left of their marks
_RAISED: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
Limits = Mapping[str, float]  # a translated label -> parameters that fit


def sizes(flops: float) -> list[float]:
    """Return the sizes of models that are drawn: around the best one."""
    best = float(best_params(flops).amount)
    return [best * _SPAN ** (place / (_POINTS // 2) - 1) for place in range(_POINTS)]


def loss_picture(flops: float, limits: Limits, look: Look) -> Picture:
    """Return a line a fitted law, the best size, and what the memory holds.

    Args:
        flops: Compute that is spent.
        limits: Sizes beyond which something does not fit, by their words.
        look: How the reader wants to see.
    """
    drawing, around = Drawing(), sizes(flops)
    losses = {fit.name: [loss_for_size(flops, size, fit) for size in around] for fit in FITS}
    _draw_losses(drawing, flops, around, losses, look)
    _mark_lowest(drawing, flops, look)
    best = float(best_params(flops).amount)
    drawing.scatter(
        x=[best], y=[loss_for_size(flops, best, BESIROGLU)], mode="markers",
        name=_("20 tokens for each parameter"), hoverinfo="skip",
        marker={"color": look.color("text"), "size": 15, "symbol": "star"},
    )  # fmt: skip
    top = max(curve[0] for curve in losses.values())
    _draw_limits(drawing, limits, around, top + 10, look)
    lowest = min(min(curve) for curve in losses.values())
    ticks = [tick for tick in powers(3, 15) if around[0] <= tick <= around[-1]]
    x = log_axis(ticks, format_count, title=_("parameters"))
    y = {
        "title": _("predicted loss (nats)"),
        "range": [lowest - 0.05, min(top, lowest + 1.2) + 0.1],
    }
    # Also on a projector as high as this: its legend takes three rows.
    figure = framed(drawing, look, x=x, y=y, height=HEIGHT_PX)
    rows = around[::8]
    return Picture(
        figure=figure,
        alt=_loss_sentence(flops, best, limits),
        table={
            _("parameters"): [format_count(size) for size in rows],
            _("tokens"): [format_count(flops / (6 * size)) for size in rows],
            **{fit.name: [loss_for_size(flops, size, fit) for size in rows] for fit in FITS},
        },
    )


def _draw_losses(
    drawing: Drawing,
    flops: float,
    around: Sequence[float],
    losses: Mapping[str, Sequence[float]],
    look: Look,
) -> None:
    for (name, curve), (meaning, dash) in zip(losses.items(), _LOOKS, strict=True):
        drawing.scatter(
            x=around, y=curve, mode="lines", name=name,
            line={"color": look.color(meaning), "dash": dash, "width": 3},
            customdata=[[format_count(size), format_count(flops / (6 * size))] for size in around],
            hovertemplate=_("{size} on {tokens} tokens: {loss} nats").format(
                size="%{customdata[0]}", tokens="%{customdata[1]}", loss="%{y:.3f}"
            ),
        )  # fmt: skip


def _mark_lowest(drawing: Drawing, flops: float, look: Look) -> None:
    """Mark where each law is lowest, with the tokens for each parameter there, on the far side."""
    lowest = min(lowest_params(flops, fit).amount for fit in FITS)
    for fit, (meaning, _dash) in zip(FITS, _LOOKS, strict=True):
        size = float(lowest_params(flops, fit).amount)
        drawing.scatter(
            x=[size], y=[loss_for_size(flops, size, fit)], mode="markers+text", showlegend=False,
            text=[_ratio_text(flops, fit)], cliponaxis=False,
            textposition="bottom left" if size == lowest else "bottom right",
            marker={"color": look.color(meaning), "size": 12, "symbol": "diamond"},
            textfont={"color": look.color(meaning)}, hoverinfo="skip",
        )  # fmt: skip


def _ratio_text(flops: float, fit: LossFit) -> str:
    return _("{ratio} tokens each").format(ratio=f"{lowest_ratio(flops, fit).amount:.3g}")


def _draw_limits(
    drawing: Drawing, limits: Limits, around: Sequence[float], top: float, look: Look
) -> None:
    seen = [each for each in limits.items() if around[0] < each[1] < around[-1]]
    if look.present and seen:  # the legend has no room: one line, with its words beside it
        seen = seen[:1]
        ((label, size),) = seen
        drawing.note(
            x=math.log10(size), y=0.98, yref="paper", yanchor="top", xanchor="right",
            text=f"{label}: {format_count(size)} ",
        )  # fmt: skip
    for (label, size), dash in zip(seen, ("dash", "dot", "dashdot"), strict=False):
        drawing.scatter(
            x=[size, size], y=[0, top], mode="lines", hoverinfo="skip",
            name=f"{label}: {format_count(size)}", showlegend=not look.present,
            line={"color": look.color("refused"), "width": 2, "dash": dash},
        )  # fmt: skip


def _loss_sentence(flops: float, best: float, limits: Limits) -> str:
    text = _(
        "Loss over the size of the model for a fixed compute: lowest near {best}; ten times "
        "smaller {small} nats, ten times larger {large} nats, {here} at the best."
    ).format(
        best=format_count(best),
        small=f"{loss_for_size(flops, best / 10):.3f}",
        large=f"{loss_for_size(flops, best * 10):.3f}",
        here=f"{loss_for_size(flops, best):.3f}",
    )
    marked = [
        _("{law}: lowest at {size}, {ratio}.").format(
            law=fit.name,
            size=format_count(lowest_params(flops, fit).amount),
            ratio=_ratio_text(flops, fit),
        )
        for fit in FITS
    ]
    return " ".join(
        [text, *marked, *(f"{label}: {format_count(size)}." for label, size in limits.items())]
    )


def ladder_picture(rungs: Sequence[Item], look: Look) -> Picture:
    """Return a mark a rung on a scale of powers of ten, the smallest at the bottom.

    Args:
        rungs: Amounts of compute, smallest first.
        look: How the reader wants to see.
    """
    drawing, order = Drawing(), [_(rung.name) for rung in rungs]
    for kind in _SYMBOLS:
        if found := [rung for rung in rungs if rung.kind == kind]:
            _draw_rungs(drawing, kind, found, look)
    ticks = powers(9, 27, step=6 if look.present else 3)
    x = log_axis(ticks, _power_words, title=_("FLOPs"), range=[_FIRST, _LAST])
    places = {
        "categoryorder": "array",
        "categoryarray": order,
        "range": [-0.6, len(order) - 0.4],
        "showticklabels": False,  # each mark has its name beside it
    }
    height = round((len(rungs) * _RUNG_HEIGHT + 4) * (18 if look.present else 15))
    said = [f"{_(rung.name)} {scientific(rung.amount)}" for rung in rungs]
    table = {
        _("what"): order,
        _("FLOPs"): [scientific(rung.amount, 4) for rung in rungs],
        _("kind"): [_(KIND_WORDS[rung.kind]) for rung in rungs],
        _("source"): [_(rung.source) for rung in rungs],
    }
    return Picture(
        figure=rows_of_bars(
            drawing, look, num_rows=len(rungs), height=height, x=x, y={"autorange": True, **places}
        ),
        alt=_("From small to large: {rungs}.").format(rungs=_(", ").join(said)),
        table=table,
    )


def _power_words(power: float) -> str:
    return f"10{str(round(math.log10(power))).translate(_RAISED)}"


def _name(rung: Item, look: Look) -> str:
    """Return what a rung is called; on a projector without what follows a colon."""
    name = _(rung.name)
    return re.split("[:：]", name)[0] if look.present else name


def _draw_rungs(drawing: Drawing, kind: Kind, rungs: Sequence[Item], look: Look) -> None:
    """Draw the rungs of one kind, which has a colour and a mark of its own."""
    drawing.scatter(
        x=[rung.amount for rung in rungs],
        y=[_(rung.name) for rung in rungs],
        mode="markers+text",
        name=_(KIND_WORDS[kind]),
        marker={"color": look.color(kind.replace(" ", "_")), "symbol": _SYMBOLS[kind], "size": 13},
        text=[f"  {_name(rung, look)} · {scientific(rung.amount)}  " for rung in rungs],
        textposition=["middle left" if rung.amount > _MIDDLE else "middle right" for rung in rungs],
        customdata=[[format_flops(rung.amount), _(rung.source)] for rung in rungs],
        hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
    )
