"""Attention step by step: one head of one layer, and the masks that decide who sees whom."""

from functools import partial
from typing import Final

import streamlit as st

from core.figures.models.inside_gpt.attention import head_picture, mask_conventions_picture
from core.language import _
from core.models.one_head import OneHead, one_head
from core.models.walk import walk
from core.tensors.masks import MaskSpec, Route, run_mask
from core.units import format_percent
from pages.models.inside_gpt.inputs import ASK, Case
from pages.models.inside_gpt.snippets import head_snippet
from pages.shared.charts import show_chart
from pages.shared.page_links import show_link
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

_MASKED: Final = 5  # tokens of the masks below: their numbers are still read


def attention(case: Case) -> Shown:
    """Show every step from q and k to what the head adds."""
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
        code=head_snippet(case, ASK.used("run"), head),
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
