"""Operations that treat each element alone."""

import math
from typing import Final

import numpy as np

from core.autograd.formulas.formula import Array, Formula, Values, binary, one_input, unary
from core.language import N_

AT_ZERO: Final = N_("At 0 the derivative does not exist: torch takes 0.")
_TIE: Final = N_("Where both are equal, torch gives half of the gradient to each.")
_PARTS: Final = N_(
    "The condition only chooses: where it does not choose an input, its gradient is 0."
)


def _power(g: Array, v: Values) -> Array:
    """x^n: the derivative of x^0 is 0 at 0 too."""
    n = np.asarray(v["exponent"], dtype=np.float64)
    x = v["self"]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n == 0, 0.0, g * n * np.power(x, n - 1))


def _exponent(g: Array, v: Values) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = v["result"] * np.log(v["self"])
    return np.where((v["self"] == 0) & (v["exponent"] >= 0), 0.0, g * slope)


def _between(g: Array, v: Values) -> Array:
    x = v["self"]
    low, high = v.get("min"), v.get("max")
    inside = (x >= (-np.inf if low is None else low)) & (x <= (np.inf if high is None else high))
    return np.where(inside, g, 0.0)


def _larger(g: Array, mine: Array, rival: Array) -> Array:
    return np.asarray(g * ((mine > rival) + 0.5 * (mine == rival)))


_SUMS = (
    binary(
        "AddBackward0",
        r"a + \alpha b",
        ("$g", lambda g, _v: g),
        (r"$g \cdot $alpha", lambda g, v: g * v["alpha"]),
        symbols={"alpha": r"\alpha"},
    ),
    binary(
        "SubBackward0",
        r"a - \alpha b",
        ("$g", lambda g, _v: g),
        (r"-$g \cdot $alpha", lambda g, v: -g * v["alpha"]),
        symbols={"alpha": r"\alpha"},
    ),
    unary(
        "RsubBackward1",
        r"c - \alpha x",
        r"-$g \cdot $alpha",
        lambda g, v: -g * v["alpha"],
        symbols={"alpha": r"\alpha"},
    ),
    unary("NegBackward0", "-x", "-$g", lambda g, _v: -g),
    unary("CloneBackward0", "x", "$g", lambda g, _v: g),
    unary("AliasBackward0", "x", "$g", lambda g, _v: g),
    unary("ToCopyBackward0", r"\operatorname{cast}(x)", "$g", lambda g, _v: g),
)
_QUOTIENTS = (
    binary(
        "MulBackward0",
        r"a \cdot b",
        (r"$g \cdot $other", lambda g, v: g * v["other"]),
        (r"$g \cdot $self", lambda g, v: g * v["self"]),
    ),
    binary(
        "DivBackward0",
        r"\frac{a}{b}",
        (r"\frac{$g}{$other}", lambda g, v: g / v["other"]),
        (r"-$g \cdot \frac{$self}{$other^{2}}", lambda g, v: -g * v["self"] / v["other"] ** 2),
    ),
    unary(
        "ReciprocalBackward0",
        r"\frac{1}{x}",
        r"-$g \cdot $result^{2}",
        lambda g, v: -g * v["result"] ** 2,
    ),
    Formula(
        type="AddcmulBackward0",
        forward=r"y = c + k \cdot a \cdot b",
        inputs=(
            one_input("c", "$g", lambda g, _v: g),
            one_input(
                "a", r"$g \cdot $value \cdot $tensor2", lambda g, v: g * v["value"] * v["tensor2"]
            ),
            one_input(
                "b", r"$g \cdot $value \cdot $tensor1", lambda g, v: g * v["value"] * v["tensor1"]
            ),
        ),
        symbols={"value": "k", "tensor1": "a", "tensor2": "b"},
    ),
    binary(
        "LerpBackward0",
        r"a + w \cdot (b - a)",
        (r"$g \cdot (1 - $weight)", lambda g, v: g * (1 - v["weight"])),
        (r"$g \cdot $weight", lambda g, v: g * v["weight"]),
        symbols={"weight": "w"},
    ),
)
_POWERS = (
    unary(
        "PowBackward0",
        "x^{n}",
        r"$g \cdot $exponent \cdot $self^{$exponent - 1}",
        _power,
        symbols={"exponent": "n"},
    ),
    binary(
        "PowBackward1",
        "a^{b}",
        (r"$g \cdot $exponent \cdot $self^{$exponent - 1}", _power),
        (r"$g \cdot $result \cdot \ln($self)", _exponent),
        symbols={"exponent": "b"},
    ),
    unary(
        "PowBackward2",
        "c^{x}",
        r"$g \cdot $result \cdot \ln($self)",
        _exponent,
        symbols={"self": "c", "exponent": "x"},
    ),
    unary(
        "SqrtBackward0",
        r"\sqrt{x}",
        r"\frac{$g}{2 \cdot $result}",
        lambda g, v: g / (2 * v["result"]),
    ),
    unary(
        "RsqrtBackward0",
        r"\frac{1}{\sqrt{x}}",
        r"-\frac{1}{2} \cdot $g \cdot $result^{3}",
        lambda g, v: -0.5 * g * v["result"] ** 3,
    ),
    unary("ExpBackward0", "e^{x}", r"$g \cdot $result", lambda g, v: g * v["result"]),
    unary(
        "Exp2Backward0",
        "2^{x}",
        r"$g \cdot $result \cdot \ln 2",
        lambda g, v: g * v["result"] * math.log(2),
    ),
    unary(
        "Expm1Backward0", "e^{x} - 1", r"$g \cdot ($result + 1)", lambda g, v: g * (v["result"] + 1)
    ),
    unary("LogBackward0", r"\ln x", r"\frac{$g}{$self}", lambda g, v: g / v["self"]),
    unary(
        "Log2Backward0",
        r"\log_2 x",
        r"\frac{$g}{$self \cdot \ln 2}",
        lambda g, v: g / (v["self"] * math.log(2)),
    ),
    unary(
        "Log1PBackward0", r"\ln(1 + x)", r"\frac{$g}{1 + $self}", lambda g, v: g / (1 + v["self"])
    ),
)
_CURVES = (
    unary("SinBackward0", r"\sin x", r"$g \cdot \cos($self)", lambda g, v: g * np.cos(v["self"])),
    unary("CosBackward0", r"\cos x", r"-$g \cdot \sin($self)", lambda g, v: -g * np.sin(v["self"])),
    unary(
        "TanBackward0",
        r"\tan x",
        r"$g \cdot (1 + $result^{2})",
        lambda g, v: g * (1 + v["result"] ** 2),
    ),
    unary(
        "AtanBackward0",
        r"\arctan x",
        r"\frac{$g}{1 + $self^{2}}",
        lambda g, v: g / (1 + v["self"] ** 2),
    ),
    unary(
        "TanhBackward0",
        r"\tanh x",
        r"$g \cdot (1 - $result^{2})",
        lambda g, v: g * (1 - v["result"] ** 2),
    ),
    unary(
        "ErfBackward0",
        r"\operatorname{erf}(x)",
        r"$g \cdot \frac{2}{\sqrt{\pi}} \cdot e^{-$self^{2}}",
        lambda g, v: g * 2 / math.sqrt(math.pi) * np.exp(-(v["self"] ** 2)),
    ),
)
_KINKS = (
    unary(
        "AbsBackward0",
        "|x|",
        r"$g \cdot \operatorname{sign}($self)",
        lambda g, v: g * np.sign(v["self"]),
        remark=AT_ZERO,
    ),
    unary("SignBackward0", r"\operatorname{sign}(x)", "0", lambda g, _v: np.zeros_like(g)),
    unary(
        "ClampBackward1",
        r"\min(\max(x, l), u)",
        r"$g \cdot [$min \le $self \le $max]",
        _between,
        symbols={"min": "l", "max": "u"},
        needs=("self",),
    ),
    unary(
        "ClampMinBackward0",
        r"\max(x, l)",
        r"$g \cdot [$self \ge $min]",
        _between,
        symbols={"min": "l"},
    ),
    unary(
        "ClampMaxBackward0",
        r"\min(x, u)",
        r"$g \cdot [$self \le $max]",
        _between,
        symbols={"max": "u"},
    ),
    binary(
        "MaximumBackward0",
        r"\max(a, b)",
        (r"$g \cdot [$self > $other]", lambda g, v: _larger(g, v["self"], v["other"])),
        (r"$g \cdot [$other > $self]", lambda g, v: _larger(g, v["other"], v["self"])),
        remark=_TIE,
    ),
    binary(
        "MinimumBackward0",
        r"\min(a, b)",
        (r"$g \cdot [$self < $other]", lambda g, v: _larger(g, v["other"], v["self"])),
        (r"$g \cdot [$other < $self]", lambda g, v: _larger(g, v["self"], v["other"])),
        remark=_TIE,
    ),
    binary(
        "WhereBackward0",
        r"a \text{ if } c \text{ else } b",
        (r"$g \cdot [$condition]", lambda g, v: np.where(v["condition"], g, 0.0)),
        (r"$g \cdot (1 - [$condition])", lambda g, v: np.where(v["condition"], 0.0, g)),
        symbols={"condition": "c"},
        remark=_PARTS,
    ),
    unary(
        "MaskedFillBackward0",
        r"c \text{ if } m \text{ else } x",
        r"$g \cdot (1 - [$mask])",
        lambda g, v: np.where(v["mask"], 0.0, g),
        symbols={"mask": "m"},
    ),
    binary(
        "MaskedFillBackward1",
        r"b \text{ if } m \text{ else } a",
        (r"$g \cdot (1 - [$mask])", lambda g, v: np.where(v["mask"], 0.0, g)),
        (r"\sum $g \cdot [$mask]", lambda g, v: np.where(v["mask"], g, 0.0).sum()),
        symbols={"mask": "m"},
    ),
)

ELEMENTWISE: Final[tuple[Formula, ...]] = (*_SUMS, *_QUOTIENTS, *_POWERS, *_CURVES, *_KINKS)
