"""Attention step by step: one head of one layer as a row of small heat maps, and its masks."""

import math
from collections.abc import Sequence
from typing import Final

from core.figures.models.inside_gpt.maps import Map, draw_maps
from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.models.one_head import OneHead
from core.tensors.masks import Masked
from core.units import format_percent

HEIGHT_PX: Final = 330
PRESENT_HEIGHT_PX: Final = 400
MASK_HEIGHT_PX: Final = 190


def head_picture(one: OneHead, pieces: Sequence[str], at: int, look: Look) -> Picture:
    """Return q, k, scores, mask, softmax, v, mix and merge of one head from left to right.

    Args:
        one: The head.
        pieces: A sign for each token.
        at: The token whose row is framed.
        look: How the reader wants to see.
    """
    drawing = Drawing()
    maps = _steps(one, pieces, look)
    height = PRESENT_HEIGHT_PX if look.present else HEIGHT_PX
    layout = draw_maps(drawing, maps, pieces, look, height, at)
    best, score, weight = one.looks_at(at)
    message = _(
        "One head on {tokens} tokens. Token {at}, {piece}, scores highest with token {best}, "
        "{other}: {score}, which softmax makes {weight} of its attention."
    )
    alt = message.format(
        tokens=len(pieces),
        at=at + 1,
        piece=pieces[at],
        best=best + 1,
        other=pieces[best],
        score=f"{score:.2f}",
        weight=format_percent(weight),
    )
    return Picture(figure=drawing.figure(layout), alt=alt, table=_table(one, pieces, at))


def _steps(one: OneHead, pieces: Sequence[str], look: Look) -> list[Map]:
    width = one.q.shape[-1]
    channels = [_("channel {number}").format(number=number) for number in range(width)]
    all_channels = [
        _("channel {number}").format(number=number) for number in range(one.merged.shape[-1])
    ]
    square, narrow = 1.25, 0.8
    scores = _("scores") if look.present else f"q kᵀ / √{width}"
    return [
        Map(title="q", rows=one.q.tolist(), scale="signed", columns=channels, width=narrow),
        Map(title="k", rows=one.k.tolist(), scale="signed", columns=channels, width=narrow),
        Map(title=scores, rows=one.scores.tolist(), scale="signed", columns=pieces,
            width=square),
        Map(title=_("mask"), rows=one.masked.tolist(), scale="signed", columns=pieces,
            width=square),
        Map(title="softmax", rows=one.weights.tolist(), scale="weight", columns=pieces,
            width=square),
        Map(title="v", rows=one.v.tolist(), scale="signed", columns=channels, width=narrow),
        Map(title=_("mix"), rows=one.mixed.tolist(), scale="signed", columns=channels,
            width=narrow),
        Map(title=_("merge"), rows=one.merged.tolist(), scale="signed", columns=all_channels,
            width=square, framed=one.columns),
    ]  # fmt: skip


def _table(one: OneHead, pieces: Sequence[str], at: int) -> dict[str, list[object]]:
    """Return the row of one token: a row a token that it may look at."""
    seen = range(at + 1)
    return {
        _("token"): [pieces[key] for key in seen],
        _("score"): [f"{float(one.scores[at, key]):.4f}" for key in seen],
        _("weight"): [format_percent(float(one.weights[at, key])) for key in seen],
    }


def mask_conventions_picture(keeps: Masked, hides: Masked, turned: Masked, look: Look) -> Picture:
    """Return the mask of SDPA, that of nn.MultiheadAttention, and what a wrong one makes.

    Args:
        keeps: tril in scaled_dot_product_attention, where True means keep.
        hides: ~tril in nn.MultiheadAttention, where True means masked.
        turned: tril handed over as if True meant masked.
        look: How the reader wants to see.
    """
    drawing = Drawing()
    names = [str(number + 1) for number in range(len(keeps.mask))]
    parts = [
        Map(title=_("SDPA: True = keep"), rows=keeps.mask, scale="mask", columns=names),
        Map(title=_("MHA: True = masked"), rows=hides.mask, scale="mask", columns=names),
        Map(title=_("weights of both"), rows=keeps.weights, scale="weight", columns=names),
        Map(title=_("the wrong way round"), rows=turned.weights, scale="weight", columns=names),
    ]
    layout = draw_maps(drawing, parts, names, look, MASK_HEIGHT_PX)
    for row, weights in enumerate(turned.weights):
        if any(map(math.isnan, weights)):
            drawing.note(
                text="<b>NaN</b>", x=(len(weights) - 1) / 2, y=row, xref="x4", yref="y4",
                font={"color": look.color("refused")},
            )  # fmt: skip
    message = _(
        "A causal mask of {count} tokens: {kept} pairs are True where True means keep, {hidden} "
        "where it means masked. The wrong way round {future} pairs of the future are seen, and "
        "the last row is NaN."
    )
    alt = message.format(
        count=len(names),
        kept=sum(map(sum, keeps.mask)),
        hidden=sum(map(sum, hides.mask)),
        future=turned.num_future,
    )
    table = {
        _("query"): names,
        parts[0].title: [_bits(row) for row in keeps.mask],
        parts[1].title: [_bits(row) for row in hides.mask],
        parts[2].title: [_numbers(row) for row in keeps.weights],
        parts[3].title: [_numbers(row) for row in turned.weights],
    }
    return Picture(figure=drawing.figure(layout), alt=alt, table=table)


def _bits(row: Sequence[bool]) -> str:
    return " ".join("T" if each else "F" for each in row)


def _numbers(row: Sequence[float]) -> str:
    return " ".join(f"{each:.2f}" for each in row)
