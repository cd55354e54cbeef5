"""Products of matrices, and attention, which is made of two."""

import math
from typing import Final

import numpy as np

from core.autograd.formulas.formula import Array, Formula, Gradients, Input, Values, one_input
from core.language import N_

_KEPT: Final = ("query", "key", "value")


def _turned(x: Array) -> Array:
    return np.swapaxes(x, -1, -2)


def _factors(first: str, second: str, scale: str = "") -> tuple[Input, Input]:
    """Return the inputs A and B of a product, saved under these names, times alpha if asked for."""
    times = rf"${scale} \cdot " if scale else ""

    def left(g: Array, v: Values) -> Array:
        return np.asarray(g @ _turned(v[second]) * v.get(scale, 1))

    def right(g: Array, v: Values) -> Array:
        return np.asarray(_turned(v[first]) @ g * v.get(scale, 1))

    return (
        one_input("A", rf"{times}$g \, ${second}^{{\top}}", left, needs=(second,)),
        one_input("B", rf"{times}${first}^{{\top}} \, $g", right, needs=(first,)),
    )


def _product(name: str, first: str, second: str) -> Formula:
    return Formula(
        type=f"{name}Backward0",
        forward="Y = A B",
        inputs=_factors(first, second),
        symbols={first: "A", second: "B"},
    )


def _product_and_sum(name: str, first: str, second: str) -> Formula:
    added = one_input("C", r"$beta \cdot $g", lambda g, v: g * v["beta"])
    return Formula(
        type=f"{name}Backward0",
        forward=r"Y = \beta C + \alpha A B",
        inputs=(added, *_factors(first, second, "alpha")),
        symbols={first: "A", second: "B", "alpha": r"\alpha", "beta": r"\beta"},
    )


def _times_vector(name: str, matrix: str, added: tuple[Input, ...], forward: str) -> Formula:
    return Formula(
        type=f"{name}Backward0",
        forward=forward,
        inputs=(
            *added,
            one_input(
                "A", r"$g \, $vec^{\top}", lambda g, v: np.outer(g, v["vec"]) * v.get("alpha", 1)
            ),
            one_input(
                "b", rf"${matrix}^{{\top}} \, $g", lambda g, v: v[matrix].T @ g * v.get("alpha", 1)
            ),
        ),
        symbols={matrix: "A", "vec": "b", "alpha": r"\alpha", "beta": r"\beta"},
    )


def _scale(v: Values) -> float:
    given = v.get("scale")
    return 1 / math.sqrt(v["query"].shape[-1]) if given is None else float(given)


def _weights(v: Values) -> Array:
    """Return the attention weights, computed again: torch keeps only their log-sum-exp."""
    scores = v["query"] @ _turned(v["key"]) * _scale(v)
    mask = v.get("attn_mask")
    if v.get("is_causal"):
        scores = np.where(np.tri(*scores.shape[-2:]) > 0, scores, -np.inf)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    shifted = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True))


def _scores(g: Array, v: Values) -> Array:
    """Return the gradient of the scores before the scale: through the softmax."""
    weights = _weights(v)
    inner = g @ _turned(v["value"])
    return np.asarray(weights * (inner - (inner * weights).sum(axis=-1, keepdims=True)) * _scale(v))


def _first(g: Array | Gradients) -> Array:
    """Attention has a second output, its log-sum-exp, which nothing uses."""
    return np.asarray(g[0] if isinstance(g, tuple) else g, dtype=np.float64)


_ATTENTION = Formula(
    type="ScaledDotProductFlashAttentionForCpuBackward0",
    forward=r"Y = P V, \quad P = \operatorname{softmax}(s \, Q K^{\top})",
    inputs=(
        one_input(
            "Q", r"s \, \bar{S} \, $key", lambda g, v: _scores(_first(g), v) @ v["key"], needs=_KEPT
        ),
        one_input(
            "K",
            r"s \, \bar{S}^{\top} \, $query",
            lambda g, v: _turned(_scores(_first(g), v)) @ v["query"],
            needs=_KEPT,
        ),
        one_input(
            "V", r"P^{\top} \, $g", lambda g, v: _turned(_weights(v)) @ _first(g), needs=_KEPT
        ),
    ),
    symbols={"query": "Q", "key": "K", "value": "V"},
    remark=N_(
        "P is computed again from Q and K; the gradient of the scores is that of the softmax."
    ),
)

PRODUCTS: Final[tuple[Formula, ...]] = (
    _product("Mm", "self", "mat2"),
    _product("Bmm", "self", "mat2"),
    _product_and_sum("Addmm", "mat1", "mat2"),
    _product_and_sum("Baddbmm", "batch1", "batch2"),
    _times_vector("Mv", "self", (), "y = A b"),
    _times_vector(
        "Addmv",
        "mat",
        (one_input("c", r"$beta \cdot $g", lambda g, v: g * v["beta"]),),
        r"y = \beta c + \alpha A b",
    ),
    Formula(
        type="DotBackward0",
        forward=r"y = a^{\top} b",
        inputs=(
            one_input("a", r"$g \cdot $tensor", lambda g, v: g * v["tensor"]),
            one_input("b", r"$g \cdot $self", lambda g, v: g * v["self"]),
        ),
        symbols={"self": "a", "tensor": "b"},
    ),
    _ATTENTION,
)
