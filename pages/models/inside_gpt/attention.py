"""Attention step by step: one head of one layer, and the masks that decide who sees whom."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Final

import streamlit as st

from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.models.one_head import OneHead, one_head
from core.models.walk import walk
from core.tensors.masks import Masked, MaskSpec, Route, run_mask
from core.units import format_percent
from pages.models.inside_gpt.inputs import ASK, Case, at_the_start, opening
from pages.models.inside_gpt.maps import Map, draw_maps
from pages.shared.charts import show_chart
from pages.shared.page_links import show_link
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown, Tab

_MASKED: Final = 5  # tokens of the masks below: their numbers are still read
_HEAD = """import math

import torch
from einops import rearrange

{imports}
opened = {opened}
model, ids = opened.model, torch.tensor([[{ids}]])
with torch.no_grad():
    x = model.tokens(ids) + model.positions.weight[: ids.shape[1]]  # (1, T, C)
    for block in model.blocks[:{layer}]:
        x = block(x)
    block = model.blocks[{layer}]
    packed = block.attention.qkv(block.norm_1(x))
    q, k, v = rearrange(
        packed, "1 T (three H D) -> three H T D", three=3, H=model.shape.num_heads
    )[:, {head}]  # each (T, D)
    scores = q @ k.T / math.sqrt(q.shape[-1])
    future = torch.ones_like(scores, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(future, -math.inf).softmax(-1)
    mixed = weights @ v
best = int(weights[{at}].argmax())
print("token", best + 1, f"score {{scores[{at}, best]:.2f}}, weight {{weights[{at}, best]:.1%}}")
"""


def attention(case: Case) -> Shown:
    if not case.token_ids:
        return Shown(headline=_("Type a text in the first tab: its attention stands here"))
    head = case.head or 0
    one = one_head(walk(case.opened.model, case.token_ids), case.layer, head)
    picture = head_picture(one, case.pieces, case.at, look())
    return Shown(
        headline=_headline(case, one, head),
        charts=[Chart(picture=picture, file_name="attention-steps")],
        notes=[] if presenting() else _notes(case, one),
        below=None if presenting() else _masks,
        code=_HEAD.format(**opening(case), layer=case.layer, head=head, at=case.at),
    )


def _headline(case: Case, one: OneHead, head: int) -> str:
    best, score, weight = one.looks_at(case.at)
    words = _(
        "Layer {layer}, head {head}: token {at} (“{piece}”) gives token {best} (“{other}”) the "
        "score {score}, after softmax {weight}"
    )
    return words.format(
        layer=case.layer + 1,
        head=head + 1,
        at=case.at + 1,
        piece=f"`{case.pieces[case.at]}`",
        best=best + 1,
        other=f"`{case.pieces[best]}`",
        score=f"{score:.2f}",
        weight=format_percent(weight),
    )


def _notes(case: Case, one: OneHead) -> list[str]:
    scaling = one.scaling()
    first = [] if case.head is not None else [no_head()]
    why = _(
        "Why √d: a product of two vectors with {width} independent numbers of variance 1 has the "
        "variance {width}. Here q kᵀ has the standard deviation {product}, and {score} after "
        "dividing by √{width}; the largest weight of a row is on average {sharp} without the "
        "division and {soft} with it. A softmax that gives one token nearly everything has nearly "
        "no gradient."
    )
    how = _(
        "The model does scores, mask, softmax and mix in one call, "
        "F.scaled_dot_product_attention, and keeps neither of the T × T matrices. Computed step by "
        "step, the mix differs by at most {gap}."
    )
    return [
        *first,
        why.format(
            width=scaling.head_dim,
            product=f"{scaling.product_std:.3g}",
            score=f"{scaling.score_std:.3g}",
            sharp=format_percent(scaling.product_peak),
            soft=format_percent(scaling.score_peak),
        ),
        how.format(gap=f"{one.largest_gap:.1e}"),
    ]


def no_head() -> str:
    """Return why one head is drawn where the mean of all was chosen."""
    message = _("Drawn is head 1; choose another one under “{label}”.")
    return message.format(label=_("Head"))


def _masks() -> None:
    """Show what True means, and what a query without any key gets."""
    spec = partial(MaskSpec, kind="tril", length=_MASKED, amount=0)
    keeps, hides = (run_mask(spec(route=r, inverted=r == "mha")) for r in ("sdpa", "mha"))
    turned = run_mask(spec(route="softmax", inverted=False))
    st.markdown(_("**What True means in a mask**"))
    picture = mask_conventions_picture(keeps, hides, turned, look())
    show_chart(picture, key=ASK.key("masks"), file_name="mask-conventions")
    st.caption(
        _(
            "A row that is masked entirely is −∞ everywhere, and its softmax is NaN: {nan} of "
            "{count} rows here. `F.scaled_dot_product_attention` returns {sdpa} for such a row, "
            "`nn.MultiheadAttention` {mha}. Let every token see at least itself, or set the "
            "weights of such rows to 0 after the softmax."
        ).format(nan=turned.num_nan, count=_MASKED, sdpa=_empty("sdpa"), mha=_empty("mha"))
    )
    query = {"broad_tab": "masks", "broad_mask": "tril", "broad_tokens": str(_MASKED)}
    with st.container(horizontal=True, key=ASK.key("masks_elsewhere")):
        show_link("tensors/broadcasting", _("Other masks →"), query)
        show_link(
            "tensors/rearrange_and_einsum",
            _("What each step allocates →"),
            {"ein_tab": "attention"},
        )


def _empty(route: Route) -> str:
    """Return what torch makes of a row without a key, handed over at this place."""
    spec = MaskSpec(
        kind="triu", length=_MASKED, amount=1, inverted=route != "sdpa", route=route
    )  # the last token sees nobody
    return "NaN" if run_mask(spec).num_nan else "0"


HEIGHT_PX: Final = 330
PRESENT_HEIGHT_PX: Final = 400
MASK_HEIGHT_PX: Final = 190


def head_picture(one: OneHead, pieces: Sequence[str], at: int, look: Look) -> Picture:
    """Return q, k, scores, mask, softmax, v, mix and merge of one head from left to right."""
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
    """Return a mask that keeps, one that hides, and what the first makes where it should hide."""
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


def ask_for_the_first_row() -> None:
    """Ask how the first token shares its attention; the shares are computed."""
    trained, token_ids = at_the_start()
    one = one_head(walk(trained.model, token_ids), 0, 0)
    token, _score, weight = one.looks_at(0)
    count = len(token_ids)
    predict_then_reveal(
        ASK.key("first_row"),
        _("A text has {count} tokens. How much of its attention does the first one give itself?")
        .format(count=count),
        [
            Choice(
                format_percent(1 / count),
                _("So it would be if all tokens were seen alike. The first one sees no other."),
            ),
            Choice(
                _("That depends on the weights of the model"),
                _("For all other tokens, yes. The mask leaves the first one a single score."),
            ),
            Choice(format_percent(weight)),
        ],
        _(
            "The mask hides all that comes later, so the first row has one score that is not −∞, "
            "and softmax of a single number is {share}: token {token} looks at itself in every "
            "head of every model."
        ).format(share=format_percent(weight), token=token + 1),
    )  # fmt: skip


TAB: Final = Tab(
    label=N_("Attention"),
    show=attention,
    unseen=("with",),
    question=ask_for_the_first_row,
    reading="attention",
)
