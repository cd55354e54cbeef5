"""Activation functions."""

import math
from typing import Final

import numpy as np

from core.autograd.formulas.elementwise import AT_ZERO
from core.autograd.formulas.formula import Array, Formula, Values, unary
from core.language import N_

_SQRT_HALF: Final = math.sqrt(0.5)
_TANH_SCALE: Final = math.sqrt(2 / math.pi)  # Hendrycks and Gimpel 2016, eq. of the approximation
_CUBIC: Final = 0.044715

erf = np.vectorize(math.erf, otypes=[np.float64])


def sigmoid(x: Array) -> Array:
    """Return 1 / (1 + exp(-x)), without overflow."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


def _gelu(g: Array, v: Values) -> Array:
    x = v["self"]
    if v.get("approximate", "none") == "none":
        density = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        return np.asarray(g * ((1 + erf(x * _SQRT_HALF)) / 2 + x * density))
    inner = np.tanh(_TANH_SCALE * (x + _CUBIC * x**3))
    slope = (1 - inner**2) * _TANH_SCALE * (1 + 3 * _CUBIC * x * x)
    return np.asarray(g * ((1 + inner) / 2 + x * slope / 2))


def _silu(g: Array, v: Values) -> Array:
    part = sigmoid(v["self"])
    return np.asarray(g * part * (1 + v["self"] * (1 - part)))


def _softplus(g: Array, v: Values) -> Array:
    x = v["self"] * v["beta"]
    return np.where(x > v["threshold"], g, g * sigmoid(x))


def _elu(g: Array, v: Values) -> Array:
    x, inner = v["self"], v["input_scale"]
    below = v["alpha"] * inner * np.exp(np.minimum(x * inner, 0.0))
    return np.asarray(g * v["scale"] * np.where(x > 0, 1.0, below))


ACTIVATIONS: Final[tuple[Formula, ...]] = (
    unary(
        "SigmoidBackward0",
        r"\sigma(x)",
        r"$g \cdot $result \cdot (1 - $result)",
        lambda g, v: g * v["result"] * (1 - v["result"]),
    ),
    unary(
        "LogSigmoidBackward0",
        r"\ln \sigma(x)",
        r"$g \cdot \sigma(-($self))",
        lambda g, v: g * sigmoid(-v["self"]),
    ),
    unary(
        "SiluBackward0",
        r"x \cdot \sigma(x)",
        r"$g \cdot \sigma($self) \cdot (1 + $self \cdot (1 - \sigma($self)))",
        _silu,
    ),
    unary(
        "GeluBackward0",
        r"x \cdot \Phi(x)",
        r"$g \cdot (\Phi($self) + $self \cdot \varphi($self))",
        _gelu,
    ),
    unary(
        "SoftplusBackward0",
        r"\frac{1}{\beta} \ln(1 + e^{\beta x})",
        r"$g \cdot \sigma($beta \cdot $self)",
        _softplus,
        symbols={"beta": r"\beta"},
        remark=N_("Above the threshold of 20, torch takes y = x and passes the gradient on."),
    ),
    unary(
        "ReluBackward0",
        r"\max(x, 0)",
        r"$g \cdot [$result > 0]",
        lambda g, v: g * (v["result"] > 0),
        remark=AT_ZERO,
    ),
    unary(
        "LeakyReluBackward0",
        r"\max(x, s x)",
        r"$g \cdot ([$self > 0] + $negative_slope \cdot [$self \le 0])",
        lambda g, v: g * np.where(v["self"] > 0, 1.0, v["negative_slope"]),
        symbols={"negative_slope": "s"},
    ),
    unary(
        "EluBackward0",
        r"x \text{ if } x > 0 \text{ else } \alpha (e^{x} - 1)",
        r"$g \cdot ([$self > 0] + [$self \le 0] \cdot $alpha \cdot e^{$self})",
        _elu,
        symbols={"alpha": r"\alpha"},
    ),
    unary(
        "HardtanhBackward0",
        r"\min(\max(x, l), u)",
        r"$g \cdot [$min_val < $self < $max_val]",
        lambda g, v: g * ((v["self"] > v["min_val"]) & (v["self"] < v["max_val"])),
        symbols={"min_val": "l", "max_val": "u"},
    ),
)
