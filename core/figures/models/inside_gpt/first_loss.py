"""The first loss over the spread of the tied embedding."""

import math
from collections.abc import Mapping, Sequence
from functools import reduce

from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.language.listing import followed_by
from core.models.first_loss import FirstLoss

HEIGHT_PX = 380


def first_loss_picture(
    curve: Sequence[FirstLoss],
    at: FirstLoss,
    vocab_size: int,
    large: Mapping[str, tuple[FirstLoss, int]],
    look: Look,
) -> Picture:
    """Return the measured losses of one shape, ln V, and single ones of larger models.

    Args:
        curve: Of one model, its embedding drawn ever wider.
        at: The one that is looked at.
        vocab_size: V of the curve.
        large: Translated name -> first loss and V of another model.
        look: How the reader wants to see.
    """
    drawing, ln_vocab = Drawing(), math.log(vocab_size)
    _draw_curve(drawing, curve, at, look)
    _draw_line(drawing, ln_vocab, "ln V", look)
    for name, (each, size) in large.items():
        drawing.scatter(
            x=[each.std], y=[each.loss], mode="markers+text", text=[f"{each.loss:,.2f}"],
            textposition="top left", name=name, showlegend=False,
            marker={"size": 14, "symbol": "diamond", "color": look.color("optimizer")},
            hovertemplate=name + "<br>%{y:.2f} nats<extra></extra>",
        )  # fmt: skip
        _draw_line(drawing, math.log(size), f"ln {size:,}", look)
    layout = look.layout()
    axes = {"xaxis": _axis(layout["xaxis"], _("standard deviation of the embedding's rows"))}
    axes |= {"yaxis": _axis(layout["yaxis"], _("first loss, nats per token"))}
    room = {"height": HEIGHT_PX, "margin": {"l": 8, "r": 8, "t": 16, "b": 8}, "showlegend": False}
    return Picture(
        figure=drawing.figure(layout | axes | room),
        alt=_alt(at, ln_vocab, large),
        table=_table(curve, vocab_size, large),
    )


def _axis(axis: Mapping[str, object], title: str) -> dict[str, object]:
    ticks = [0.001, 0.01, 0.1, 1, 5, 10, 20, 50, 100, 500]
    return {
        **axis, "title": {"text": title}, "type": "log", "zeroline": False, "tickvals": ticks,
        "ticktext": [f"{tick:g}" for tick in ticks],
    }  # fmt: skip


def _draw_curve(drawing: Drawing, curve: Sequence[FirstLoss], at: FirstLoss, look: Look) -> None:
    drawing.scatter(
        x=[each.std for each in curve], y=[each.loss for each in curve], mode="lines+markers",
        line={"color": look.color("measured"), "width": 3}, marker={"size": 7}, name=_("measured"),
        hovertemplate="σ %{x:.3g}: %{y:.2f} nats<extra></extra>",
    )  # fmt: skip
    drawing.scatter(
        x=[at.std], y=[at.loss], mode="markers+text", text=[f"{at.loss:.2f}"],
        textposition="middle left", marker={"size": 16, "color": look.color("validation_loss")},
        hoverinfo="skip", cliponaxis=False,
    )  # fmt: skip


def _draw_line(drawing: Drawing, height: float, name: str, look: Look) -> None:
    drawing.shape(
        type="line", xref="paper", x0=0, x1=1, y0=height, y1=height,
        line={"color": look.color("reference"), "width": 2, "dash": "dash"},
    )  # fmt: skip
    drawing.note(
        xref="paper", x=0, xanchor="left", y=math.log10(height), yanchor="bottom",
        text=f"{name} = {height:.2f}",
    )  # fmt: skip


def _alt(at: FirstLoss, ln_vocab: float, large: Mapping[str, tuple[FirstLoss, int]]) -> str:
    said = _(
        "With a standard deviation of {std} the first loss is {loss} nats; ln V is {ln_vocab}."
    )
    text = said.format(std=f"{at.std:.3g}", loss=f"{at.loss:.2f}", ln_vocab=f"{ln_vocab:.2f}")
    more = [
        _("{name}: {loss} nats.").format(name=name, loss=f"{each.loss:.2f}")
        for name, (each, _size) in large.items()
    ]
    return reduce(followed_by, more, text)


def _table(
    curve: Sequence[FirstLoss], vocab_size: int, large: Mapping[str, tuple[FirstLoss, int]]
) -> dict[str, list[object]]:
    rows = [(_("this model"), each, vocab_size) for each in curve]
    rows += [(name, each, size) for name, (each, size) in large.items()]
    return {
        _("model"): [name for name, _each, _size in rows],
        _("standard deviation"): [each.std for _name, each, _size in rows],
        _("first loss"): [each.loss for _name, each, _size in rows],
        "ln V": [math.log(size) for _name, _each, size in rows],
        _("spread of the logits"): [each.logit_std for _name, each, _size in rows],
        _("logit of the token that was read"): [each.own_logit for _name, each, _size in rows],
    }
