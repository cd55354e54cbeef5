"""Attention masks: what True means, who sees the future, and a row that sees nothing."""

from collections.abc import Mapping
from typing import Final

from core.figures.tensors.broadcasting.masks import mask_picture
from core.language import N_, _
from core.tensors.masks import (
    KEEPS_TRUE,
    MASK_KINDS,
    MAX_LENGTH,
    Masked,
    MaskSpec,
    Route,
    run_mask,
)
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown
from pages.tensors.broadcasting.inputs import ASK
from pages.tensors.broadcasting.snippets import mask_code, mask_expression

_KINDS: Final = {"tril": "tril", "triu": "triu", "padding": N_("padding")}
_SHORT: Final = {"sdpa": "SDPA", "mha": "MHA", "softmax": "softmax"}
ROUTES: Final[Mapping[Route, str]] = {
    "sdpa": "scaled_dot_product_attention",
    "mha": "nn.MultiheadAttention",
    "softmax": "masked_fill, softmax",
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
    has_order = spec.kind != "padding"
    picture = mask_picture(ran, look(), has_order=has_order)
    return Shown(
        headline=_headline(spec, ran),
        charts=[Chart(picture=picture, file_name="attention-mask")],
        notes=[] if presenting() else [_convention(spec)],
        code=mask_code(spec),
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
        mask=mask_expression(spec),
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
