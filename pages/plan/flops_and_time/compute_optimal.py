"""What rented compute is best spent on: the loss over the size of the model."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from core.budget.cluster import pool
from core.budget.compute.chinchilla import (
    BESIROGLU,
    FITS,
    HOFFMANN,
    LossFit,
    best_params,
    best_tokens,
    loss_for_size,
    lowest_params,
    lowest_ratio,
    machine_flops,
)
from core.budget.item import Item
from core.budget.training.states import bytes_per_parameter, largest_by_states
from core.figures.budget.frames import HEIGHT_PX, framed, log_axis, powers, scientific
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _, ngettext
from core.language.listing import followed_by
from core.units import format_count
from pages.plan.flops_and_time.inputs import (
    ASK,
    choose_dtype,
    dtype_name,
    in_python,
    known_peak,
    possible_dtype,
)
from pages.shared.plan.plan import Chosen, choose_plan
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown, Tab

_SPAN: Final = 60.0  # times smaller and larger than the best model
_POINTS: Final = 81
_LOOKS: Final = (("format_a", "solid"), ("format_b", "dash"))
Limits = Mapping[str, float]  # a translated label -> parameters that fit


def sizes(flops: float) -> list[float]:
    """Return the sizes of models that are drawn: around the best one."""
    best = float(best_params(flops).amount)
    return [best * _SPAN ** (place / (_POINTS // 2) - 1) for place in range(_POINTS)]


def loss_picture(flops: float, limits: Limits, look: Look) -> Picture:
    """Return a line a fitted law, the best size, and what the memory holds."""
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
            text=f"{label} · {format_count(size)} ",
        )  # fmt: skip
    for (label, size), dash in zip(seen, ("dash", "dot", "dashdot"), strict=False):
        drawing.scatter(
            x=[size, size], y=[0, top], mode="lines", hoverinfo="skip",
            name=f"{label} · {format_count(size)}", showlegend=not look.present,
            line={"color": look.color("refused"), "width": 2, "dash": dash},
        )  # fmt: skip


def _loss_sentence(flops: float, best: float, limits: Limits) -> str:
    text = _(
        "Loss over the size of the model for a fixed compute: lowest near {best}; ten times "
        "smaller {small} nats, ten times larger {large} nats, {here} at the best.",
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
    full = (
        _("{label}: {text}.").format(label=label, text=format_count(size))
        for label, size in limits.items()
    )
    return followed_by(text, *marked, *full)


STATES: Final = ("mixed_bf16", "cs336_12")  # recipes of 16 and of 12 bytes a parameter
CODE: Final = """
num_devices, days = {count}, {days}
peak = {peak}  # FLOP/s of one {device}, {dtype} without sparsity: its data sheet
mfu = {mfu}
flops = num_devices * days * 24 * 60 * 60 * peak * mfu

tokens_per_param = 20  # Hoffmann et al. 2022
num_params = (flops / (6 * tokens_per_param)) ** 0.5  # flops = 6 * N * D with D = 20 * N
num_tokens = tokens_per_param * num_params

print(f"{{flops:.3e}} FLOPs")
print(f"{{num_params:.3e}} parameters")
print(f"{{num_tokens:.3e}} tokens")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rent:
    """For how many days devices are rented, in what they multiply, and at what share of it."""

    days: int
    dtype: str
    mfu: float


def choose() -> Chosen:
    days = ASK.number("days", _("Days"), 1, 10_000, default=14, step=1)
    mfu = ASK.slider("reached", _("MFU"), 0.01, 1.0, default=1.0, step=0.01)
    chosen = choose_plan(("device", "devices"), {}, choose_dtype)
    dtype = possible_dtype(chosen.device.device, chosen.own)
    return replace(chosen, own=Rent(days=days, dtype=dtype, mfu=mfu))


def two_weeks(chosen: Chosen) -> Shown:
    """Show the loss that the rented compute buys, over the size of the model."""
    rent, device, count = chosen.own, chosen.device.device, chosen.plan.num_devices
    peak = known_peak(device, rent.dtype)
    flops = machine_flops(count, rent.days, peak, share=rent.mfu)
    spent = float(flops.amount)
    wide, narrow = (
        largest_by_states(pool(device, count), bytes_per_parameter(key)) for key in STATES
    )
    limits = {
        _("memory full at 16 bytes/parameter"): float(wide.amount),
        _("memory full at 12 bytes/parameter"): float(narrow.amount),
    }
    return Shown(
        headline=sentence(chosen, flops),
        charts=[Chart(picture=loss_picture(spent, limits, look()), file_name="loss-over-size")],
        numbers=[
            (_("FLOPs"), flops),
            (_("Parameters"), best_params(spent)),
            (_("Tokens"), best_tokens(spent)),
            (_("16 bytes/parameter"), wide),
        ],
        widths=(4, 1),
        notes=[] if presenting() else [_why_not_twenty(spent)],
        code=CODE.format(
            count=count, days=rent.days, device=device.name, dtype=dtype_name(rent.dtype),
            peak=in_python(peak), mfu=rent.mfu,
        ),
    )  # fmt: skip


def _why_not_twenty(flops: float) -> str:
    """Return why the two laws are lowest at other numbers of tokens than 20."""
    return _(
        "Diamonds: where each law is lowest. Approach 3 of Hoffmann et al., as printed, says "
        "{printed} tokens for each parameter where their approaches 1 and 2 say about 20; "
        "Besiroglu et al. 2024 fitted the same runs again, and {refitted} agrees with those.",
        printed=f"{lowest_ratio(flops, HOFFMANN).amount:.3g}",
        refitted=f"{lowest_ratio(flops, BESIROGLU).amount:.3g}",
    )


def sentence(chosen: Chosen, flops: Item) -> str:
    """Return the headline: what is rented, and the model that it trains best."""
    text = ngettext(
        "{flops} from {count} × {device} in {days} day: best spent on {params} parameters and "
        "{tokens} tokens",
        "{flops} from {count} × {device} in {days} days: best spent on {params} parameters and "
        "{tokens} tokens",
        chosen.own.days,
    )
    return text.format(
        count=f"{chosen.plan.num_devices:,}",
        device=chosen.device.device.name,
        days=f"{chosen.own.days:,}",
        flops=f"{scientific(flops.amount, 4)} FLOPs",
        params=format_count(best_params(flops.amount).amount),
        tokens=format_count(best_tokens(flops.amount).amount),
    )


TAB: Final = Tab(label=N_("Compute-optimal"), show=two_weeks)
