"""Attention masks: what True means, who sees the future, and a row that sees nothing."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.tensors.masks import KEEPS_TRUE, MASK_KINDS, MAX_LENGTH, Masked, MaskSpec, Route, run_mask
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.tensors.broadcasting.boxes import draw_layers
from pages.tensors.broadcasting.inputs import ASK

_KINDS: Final = {"tril": "tril", "triu": "triu", "padding": N_("padding")}
_SHORT: Final = {"sdpa": "SDPA", "mha": "MHA", "softmax": "softmax"}
ROUTES: Final[Mapping[Route, str]] = {
    "sdpa": "scaled_dot_product_attention",
    "mha": "nn.MultiheadAttention",
    "softmax": "masked_fill, softmax",
}

HEIGHT_PX: Final = {False: 400, True: 390}  # on a projector True
_FEW_TOKENS: Final = 8  # whose weights have room for their digits
_PANELS: Final = ([0, 0.46], [0.54, 1])
_NOTHING, _SEEN, _FUTURE, _NAN = range(4)
_SHARES: Final = (("surface", 0.9), ("accent", 0.35), ("estimated", 0.55), ("refused", 0.55))
_MASK: Final = """
import torch
from torch import nn
from torch.nn import functional as F

T = {length}
ones = torch.ones(T, T, dtype=torch.bool)
real = (torch.arange(T) < {num_real}).expand(T, T)  # as a padding mask: True for real tokens
mask = {expression}
zeros = torch.zeros(1, T, T)  # equal scores
{call}
print(weights)
print(int(weights.isnan().any(-1).sum()), "rows are NaN")
"""
_CALLS: Final = {
    "sdpa": "weights = F.scaled_dot_product_attention(zeros, zeros, torch.eye(T)[None], mask)[0]",
    "mha": "attention = nn.MultiheadAttention(T, 1, batch_first=True)\n"
    "weights = attention(zeros, zeros, zeros, attn_mask=mask)[1][0].detach()",
    "softmax": 'weights = zeros[0].masked_fill(mask, float("-inf")).softmax(-1)',
}


def choose_mask() -> MaskSpec:
    kind = ASK.segmented(
        "mask", _("Mask"), MASK_KINDS, default="tril", labels=lambda each: _(_KINDS[each])
    )
    length = ASK.slider("tokens", _("Sequence length"), 2, MAX_LENGTH, default=5, step=1)
    if kind == "padding":
        amount = ASK.slider("padded", _("Padding tokens"), 0, length, default=1, step=1)
    else:
        amount = ASK.slider(
            "diagonal", _("Diagonal"), -MAX_LENGTH, MAX_LENGTH, default=0, step=1,
            help=_("The second argument of tril and triu: −1 leaves out the main diagonal."),
        )  # fmt: skip
    route = ASK.segmented(
        "route",
        _("Handed to"),
        tuple(ROUTES),
        default="sdpa",
        labels=lambda each: _SHORT[each],
        help=_("SDPA is F.scaled_dot_product_attention, where True means keep; MHA is "
               "nn.MultiheadAttention, where True means masked out, as in a masked_fill with −∞ "
               "before softmax."),
    )  # fmt: skip
    inverted = ASK.toggle("invert", _("Invert the mask (~)"), default=False)
    return MaskSpec(kind=kind, length=length, amount=amount, inverted=inverted, route=route)


def masks(spec: MaskSpec) -> Shown:
    ran = run_mask(spec)
    picture = mask_picture(ran, look(), has_order=spec.kind != "padding")
    return Shown(
        headline=_headline(spec, ran),
        charts=[Chart(picture=picture, file_name="attention-mask")],
        notes=[] if presenting() else [_convention(spec)],
        code=_code(spec),
    )


def _headline(spec: MaskSpec, ran: Masked) -> str:
    if ran.empty and ran.num_nan:
        message = _("`{mask}` in {route}: no key for {empty} of {count} queries, softmax gives NaN")
    elif ran.empty:
        message = _("`{mask}` in {route}: no key for {empty} of {count} queries, torch returns 0")
    elif spec.kind == "padding":
        message = _(
            "`{mask}` in {route}: each query sees {last} of {count} keys, {padding} of them padding"
        )
    elif ran.num_future:
        message = _("`{mask}` in {route}: {future} of {seen} pairs that are seen lie in the future")
    else:
        message = _("`{mask}` in {route}: the first query sees {first} of {count} keys, the last "
                    "{last}")  # fmt: skip
    return message.format(
        mask=_expression(spec),
        route=ROUTES[spec.route],
        count=len(ran.mask),
        empty=len(ran.empty),
        future=ran.num_future,
        seen=ran.num_seen,
        padding=ran.num_padding,
        first=sum(ran.seen[0]),
        last=sum(ran.seen[-1]),
    )


def _convention(spec: MaskSpec) -> str:
    if KEEPS_TRUE[spec.route]:
        return _("True means keep: the key takes part. Rows are queries, so a causal mask is tril.")
    return _("True means masked out: the key gets −∞ before softmax. A causal mask is "
             "triu(diagonal=1), or ~tril.")  # fmt: skip


def mask_picture(ran: Masked, look: Look, *, has_order: bool) -> Picture:
    """Return the mask at the left and the weights at the right; rows are queries.

    If the tokens have an order, a key behind its query is the future, and drawn as a mistake.
    """
    drawing, layout, count = Drawing(), look.layout(), len(ran.mask)
    handed = [[_SEEN if each else _NOTHING for each in row] for row in ran.mask]
    _draw(drawing, 0, handed, [[_word(is_on) for is_on in row] for row in ran.mask], look)
    levels = [[_level(ran, i, j, has_order=has_order) for j in range(count)] for i in range(count)]
    _draw(drawing, 1, levels, [[_digits(each, count) for each in row] for row in ran.weights], look)
    size = layout["font"]["size"]
    for panel, title in enumerate((_("mask[query, key]"), _("weights[query, key]"))):
        drawing.note(
            x=sum(_PANELS[panel]) / 2, y=1, xref="paper", yref="paper", xanchor="center",
            yanchor="bottom", yshift=1.7 * size, text=f"<b>{title}</b>",
        )  # fmt: skip
    fields = {
        **_axes(count, layout),
        "height": HEIGHT_PX[look.present],
        "margin": {"l": 8, "r": 8, "t": 4 * size, "b": 4},
        "showlegend": False,
    }
    return Picture(figure=drawing.figure(layout | fields), alt=_sentence(ran), table=_table(ran))


def _word(is_on: bool) -> str:
    return "True" if is_on else "False"


def _digits(weight: float, count: int) -> str:
    if math.isnan(weight):
        return "NaN"
    digits = f"{weight:.2f}" if weight else "0"
    return digits.removeprefix("0") if count > _FEW_TOKENS and weight else digits


def _level(ran: Masked, query: int, key: int, *, has_order: bool) -> int:
    if math.isnan(ran.weights[query][key]):
        return _NAN
    if not ran.seen[query][key]:
        return _NOTHING
    return _FUTURE if has_order and key > query else _SEEN


def _draw(
    drawing: Drawing,
    panel: int,
    levels: Sequence[Sequence[int]],
    words: Sequence[Sequence[str]],
    look: Look,
) -> None:
    x, y = ("x", "y") if panel == 0 else ("x2", "y2")
    count = len(levels)
    draw_layers(drawing, levels, _SHARES, look, axes=(x, y))
    size = look.layout()["font"]["size"]
    is_long = count > _FEW_TOKENS
    drawing.scatter(
        x=[j for _i in range(count) for j in range(count)],
        y=[i for i in range(count) for _j in range(count)],
        mode="text",
        text=[word[:1] if is_long and panel == 0 else word for row in words for word in row],
        textfont={"size": size - (2 if is_long and not look.present else 0)},
        customdata=[f"[{i}, {j}]: {words[i][j]}" for i in range(count) for j in range(count)],
        hovertemplate="%{customdata}<extra></extra>",
        xaxis=x,
        yaxis=y,
    )


def _axes(count: int, layout: dict[str, Any]) -> dict[str, Any]:
    still = {"showgrid": False, "zeroline": False, "fixedrange": True, "showline": False}
    across = still | {"side": "top", "dtick": 1, "range": [-0.5, count - 0.5]}
    down = still | {"dtick": 1, "range": [count - 0.5, -0.5]}
    return {
        "xaxis": layout["xaxis"] | across | {"domain": _PANELS[0]},
        "xaxis2": layout["xaxis"] | across | {"domain": _PANELS[1], "anchor": "y2"},
        "yaxis": layout["yaxis"] | down,
        "yaxis2": layout["yaxis"] | down | {"anchor": "x2"},
    }


def _sentence(ran: Masked) -> str:
    return _(
        "A mask of {count} queries and {count} keys: {seen} pairs are seen, {future} of them in "
        "the future. Queries without a key: {empty}; rows of weights that are NaN: {nan}."
    ).format(
        count=len(ran.mask),
        seen=ran.num_seen,
        future=ran.num_future,
        empty=len(ran.empty),
        nan=ran.num_nan,
    )


def _table(ran: Masked) -> Table:
    count = range(len(ran.mask))
    return {
        _("query"): list(count),
        _("mask"): [" ".join(_word(each)[0] for each in row) for row in ran.mask],
        _("keys seen"): [sum(row) for row in ran.seen],
        _("attention weights"): [" ".join(f"{each:.3g}" for each in row) for row in ran.weights],
    }


def _expression(spec: MaskSpec) -> str:
    """Return a mask as it is written: `~ones.tril(-1)`."""
    call = "real" if spec.kind == "padding" else f"ones.{spec.kind}({spec.amount or ''})"
    return f"~{call}" if spec.inverted else call


def _code(spec: MaskSpec) -> str:
    return _MASK.format(
        length=spec.length,
        num_real=spec.num_real,
        expression=_expression(spec),
        call=_CALLS[spec.route],
    )


def ask_about_empty_row() -> None:
    """Ask what attention returns for a query that sees no key; torch is asked."""
    fused = MaskSpec(kind="tril", length=4, amount=-1, inverted=False, route="sdpa")
    by_hand = run_mask(replace(fused, inverted=True, route="softmax"))
    choices = [
        Choice(
            _("0 for every key"),
            _("softmax divides by the sum of the exponentials: here 0 / 0. Only a kernel that "
              "looks for such rows returns 0."),
        ),
        Choice(
            _("the same weight for every key"),
            _("So it would be if the row had −10,000 instead of −∞: all scores equal again."),
        ),
        Choice(_("NaN in {count} row").format(count=by_hand.num_nan)),
    ]  # fmt: skip
    predict_then_reveal(
        ASK.key("empty"),
        _(
            "`scores.masked_fill(~ones.tril(-1), -inf).softmax(-1)` for 4 tokens: the first query "
            "sees no key. What are its weights?"
        ),
        choices,
        _(
            "exp(−∞) is 0 for each key, their sum is 0, and 0 / 0 is NaN; one step of training "
            "carries it into every weight. The same mask in scaled_dot_product_attention of this "
            "torch gives {count} rows of NaN: it returns 0 there."
        ).format(count=run_mask(fused).num_nan),
    )


TAB: Final = Tab(
    label=N_("Masks"), show=masks, choose=choose_mask, with_inputs=False,
    question=ask_about_empty_row,
)  # fmt: skip
