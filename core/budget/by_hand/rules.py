"""Two rules to carry in the head: 16 bytes for a parameter, 6 FLOPs for a parameter and a token.

For our own model the closed forms of `core.budget.by_hand.gpt` are exact; these are what they come
to. Two layers, product by product, show where 2, 4 and 6 come from.
"""

from dataclasses import replace
from typing import Final

from core.budget.check import check_range
from core.budget.item import Formula, Item, counted, estimated, item, total
from core.language import N_

STATE_RULE: Final = Formula("16 * num_params")
STATE_PARTS: Final = {
    "weights": Formula("2 * num_params"),
    "gradients": Formula("2 * num_params"),
    "master weights": Formula("4 * num_params"),
    "moments": Formula("(4 + 4) * num_params"),
}
FLOPS_RULE: Final = Formula("6 * num_params * num_tokens")

FIRST: Final = Formula("2 * B * D * D")
SECOND: Final = Formula("2 * B * D * K")
MOST: Final = 1_000_000

_PRODUCT: Final = N_("a multiply and an add for each number of each row and column")
_CHAIN: Final = N_("the chain rule: each matmul forward gives two backward, if both are needed")


def state_rule(num_params: int) -> Item:
    """Return the bytes of weights, gradients and AdamW's two moments, part by part.

    Mixed precision: 2 + 2 bytes in bf16, an fp32 master copy and two fp32 moments. All in fp32 it
    is 4 + 4 + 8, the same sum. Activations come on top.
    """
    source = N_("Rajbhandari et al. 2020, ZeRO, section 3.1: K = 12 beside 2 + 2 bytes")
    values = {"num_params": num_params}
    parts = [counted(name, formula, values, source) for name, formula in STATE_PARTS.items()]
    whole = counted("training state", STATE_RULE, values, source)
    return replace(whole, children=tuple(parts))


def flops_rule(num_params: int, num_tokens: int) -> Item:
    """Return the FLOPs of training on `num_tokens`: 2 forward and 4 backward for each parameter.

    Attention over the context and the embedding's look-ups are left out, so a small model with a
    long context is off by some tens of per cent.
    """
    return estimated(
        "training FLOPs",
        FLOPS_RULE,
        {"num_params": num_params, "num_tokens": num_tokens},
        N_("Kaplan et al. 2020, Scaling Laws for Neural Language Models, section 2.1"),
        0.1,
        "FLOPs",
    )


def two_layer_flops(rows: int, width: int, outputs: int, *, input_needs_gradient: bool) -> Item:
    """Return the FLOPs of h = x w1, y = h w2 and of their backward pass, a child a product.

    x has `rows` rows and `width` columns, h as many, y `outputs` columns; data need no gradient.

    Raises:
        ValueError: If a size is out of range.
    """
    for name, size in (("rows", rows), ("width", width), ("outputs", outputs)):
        check_range(name, size, 1, MOST)
    values = {"B": rows, "D": width, "K": outputs}

    def product(name: str, formula: Formula, source: str) -> Item:
        return counted(name, formula, values, source, "FLOPs")

    forward = [product("h = x @ w1", FIRST, _PRODUCT), product("y = h @ w2", SECOND, _PRODUCT)]
    backward = [
        product("w2.grad = h.T @ y.grad", SECOND, _CHAIN),
        product("h.grad = y.grad @ w2.T", SECOND, _CHAIN),
        product("w1.grad = x.T @ h.grad", FIRST, _CHAIN),
    ]
    if input_needs_gradient:
        backward.append(product("x.grad = h.grad @ w1.T", FIRST, _CHAIN))
    parts = [
        total(N_("forward"), forward, source=_PRODUCT),
        total(N_("backward"), backward, source=_CHAIN),
    ]
    return total(N_("step FLOPs"), parts, source=_CHAIN)


_BYTES: Final = Formula("num_elements * item_bytes")
_MATMUL: Final = Formula("2 * batch * rows * inner * columns")
_COUNTED: Final = N_("each element is stored once")
_TWO: Final = N_("one multiplication and one addition for each pair that meets")
_ALL: Final = Formula("clones")
_SEEN: Final = N_("the clone operations that torch ran, one after another")


def stored_bytes(name: str, num_elements: int, item_bytes: int) -> Item:
    """Return the bytes of a tensor's own elements."""
    values = {"num_elements": num_elements, "item_bytes": item_bytes}
    return counted(name, _BYTES, values, _COUNTED)


def matmul_flops(*, batch: int, rows: int, inner: int, columns: int) -> Item:
    """Return the FLOPs of `batch` products of (rows x inner) and (inner x columns)."""
    values = {"batch": batch, "rows": rows, "inner": inner, "columns": columns}
    return counted("matmul", _MATMUL, values, _TWO, "FLOPs")


def copied_bytes(num_bytes: int) -> Item:
    """Return the bytes that torch copied on its own, as its operations told."""
    return item("copied", _ALL, {"clones": num_bytes}, unit="bytes", source=_SEEN, kind="measured")
