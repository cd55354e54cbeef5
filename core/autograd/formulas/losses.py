"""Softmax and normalization, which make outputs comparable, and the losses that compare them."""

from typing import Any, Final

import numpy as np

from core.autograd.formulas.activations import sigmoid
from core.autograd.formulas.formula import Array, Formula, Values, binary, one_input, unary
from core.language import N_

_MEAN: Final = 1  # torch's number of reduction="mean": 0 none, 1 mean, 2 sum
_SHARE: Final = N_('With reduction="mean" each element counts 1/n; with "sum" and "none", n is 1.')


def _softmax(g: Array, v: Values) -> Array:
    y = v["result"]
    return np.asarray(y * (g - (g * y).sum(axis=v["dim"], keepdims=True))) if y.ndim else g * 0


def _log_softmax(g: Array, v: Values) -> Array:
    total = g.sum(axis=v["dim"], keepdims=True) if g.ndim else g
    return np.asarray(g - np.exp(v["result"]) * total)


def _share(v: Values) -> float:
    return 1 / max(np.size(v["self"]), 1) if v["reduction"] == _MEAN else 1.0


def _squared_error(g: Array, v: Values) -> Array:
    return np.asarray(g * 2 * (v["self"] - v["target"]) * _share(v))


def _smooth_error(g: Array, v: Values) -> Array:
    apart = v["self"] - v["target"]
    slope = np.clip(apart / v["beta"], -1, 1) if v["beta"] else np.sign(apart)
    return np.asarray(g * slope * _share(v))


def _logits(g: Array, v: Values) -> Array:
    positive = _or_one(v, "pos_weight") * v["target"]
    slope = (1 - v["target"] + positive) * sigmoid(v["self"]) - positive
    return np.asarray(g * slope * _or_one(v, "weight") * _share(v))


def _labels(g: Array, v: Values) -> Array:
    log_yes, log_no = (-np.logaddexp(0, sign * v["self"]) for sign in (-1, 1))
    slope = log_no - _or_one(v, "pos_weight") * log_yes
    return np.asarray(g * slope * _or_one(v, "weight") * _share(v))


def _or_one(v: Values, name: str) -> Any:  # noqa: ANN401  an array, or 1
    found = v.get(name)
    return 1.0 if found is None else found


def _likelihood(g: Array, v: Values) -> Array:
    """-g at each target, times its class's weight, over the total weight if a mean was taken."""
    targets = np.asarray(v["target"]).astype(np.int64)
    gradient = np.zeros(v["self"].shape)
    counted = targets != v["ignore_index"]
    safe = np.where(counted, targets, 0)
    weight = np.broadcast_to(_or_one(v, "weight"), v["self"].shape[1 if targets.ndim else 0])[safe]
    each = np.where(counted, -g * weight, 0.0)
    if v["reduction"] == _MEAN:
        each = each / v["total_weight"]
    np.put_along_axis(gradient, safe[..., None], each[..., None], axis=-1)
    return gradient


def _normalized(v: Values) -> Array:
    return np.asarray((v["input"] - v["result1"]) * v["result2"])


def _layer_norm(g: Array, v: Values) -> Array:
    """Take out of the gradient its mean and its part along the normalized x."""
    axes = tuple(range(-len(v["normalized_shape"]), 0))
    along, inner = _normalized(v), g * _or_one(v, "weight")
    mean = inner.mean(axis=axes, keepdims=True)
    part = (inner * along).mean(axis=axes, keepdims=True)
    return np.asarray(v["result2"] * (inner - mean - along * part))


def _over_rows(g: Array, v: Values) -> Array:
    return np.asarray(g.sum(axis=tuple(range(g.ndim - len(v["normalized_shape"])))))


_NORM_NEEDS = ("input", "result1", "result2")
_NORM = Formula(
    type="NativeLayerNormBackward0",
    forward=r"y = w \cdot \hat{x} + b, \quad \hat{x} = (x - \mu) \cdot r",
    inputs=(
        one_input(
            "x",
            r"$result2 \cdot (\hat{g} - \overline{\hat{g}} - \hat{x} \overline{\hat{g} \hat{x}}),"
            r" \quad \hat{g} = w \cdot $g",
            _layer_norm,
            needs=_NORM_NEEDS,
        ),
        one_input(
            "w",
            r"\sum_{\text{rows}} $g \cdot \hat{x}",
            lambda g, v: _over_rows(g * _normalized(v), v),
            needs=(*_NORM_NEEDS, "weight"),
        ),
        one_input("b", r"\sum_{\text{rows}} $g", _over_rows, needs=("normalized_shape", "bias")),
    ),
    symbols={"result2": "r"},
    remark=N_("A line over a term is its mean over the normalized axes; μ and r = 1/σ were saved."),
)
_PROBABILITIES = tuple(
    unary(
        node_type,
        r"\operatorname{softmax}(x)",
        r"$result \cdot ($g - \sum_j {$g}_j \cdot {$result}_j)",
        _softmax,
    )
    for node_type in ("SoftmaxBackward0", "SafeSoftmaxBackward0")
)
_DIFFERENCES = {"self": "a", "target": "b", "beta": r"\beta", "n": "n"}
_COUNT = {"n": lambda v: 1 / _share(v)}

LOSSES: Final[tuple[Formula, ...]] = (
    *_PROBABILITIES,
    unary(
        "LogSoftmaxBackward0",
        r"\ln \operatorname{softmax}(x)",
        r"$g - e^{$result} \cdot \sum_j {$g}_j",
        _log_softmax,
    ),
    binary(
        "MseLossBackward0",
        r"\frac{1}{n} \sum_i (a_i - b_i)^2",
        (r"$g \cdot \frac{2}{$n} \cdot ($self - $target)", _squared_error),
        (r"$g \cdot \frac{2}{$n} \cdot ($target - $self)", lambda g, v: -_squared_error(g, v)),
        symbols=_DIFFERENCES,
        derived=_COUNT,
        needs=("self", "target"),
        remark=_SHARE,
    ),
    binary(
        "SmoothL1LossBackward0",
        r"\frac{1}{n} \sum_i \operatorname{huber}_\beta(a_i - b_i) / \beta",
        (
            r"$g \cdot \frac{1}{$n} \cdot \min(\max(\frac{$self - $target}{$beta}, -1), 1)",
            _smooth_error,
        ),
        (
            r"-$g \cdot \frac{1}{$n} \cdot \min(\max(\frac{$self - $target}{$beta}, -1), 1)",
            lambda g, v: -_smooth_error(g, v),
        ),
        symbols=_DIFFERENCES,
        derived=_COUNT,
        needs=("self", "target"),
        remark=_SHARE,
    ),
    binary(
        "BinaryCrossEntropyWithLogitsBackward0",
        r"-\frac{1}{n} \sum_i b_i \ln \sigma(a_i) + (1 - b_i) \ln(1 - \sigma(a_i))",
        (r"$g \cdot \frac{1}{$n} \cdot (\sigma($self) - $target)", _logits),
        (r"-$g \cdot \frac{1}{$n} \cdot $self", _labels),
        symbols=_DIFFERENCES,
        derived=_COUNT,
        needs=("self", "target"),
        remark=_SHARE,
    ),
    unary(
        "NllLossBackward0",
        r"-\frac{1}{W} \sum_i w_{t_i} x_{i, t_i}",
        r"-$g \cdot \frac{1}{$total_weight} \cdot \operatorname{onehot}($target)",
        _likelihood,
        symbols={"target": "t", "total_weight": "W"},
        needs=("self", "target"),
        remark=_SHARE,
    ),
    _NORM,
)
