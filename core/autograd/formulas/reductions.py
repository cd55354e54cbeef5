"""Operations that make few numbers of many: sums, extremes, spreads, and running sums."""

from typing import Any, Final

import numpy as np

from core.autograd.formulas.formula import Array, Formula, Values, unary
from core.language import N_

_EVENLY: Final = N_("Equal largest (or smallest) elements share the gradient evenly.")
_FIRST: Final = N_("Of equal elements, only the one whose index was saved gets the gradient.")


def axes_of(dim: Any, num_axes: int) -> tuple[int, ...]:  # noqa: ANN401  None, an int or a tuple
    """Return the axes that are reduced: all of them for None and ()."""
    dims = () if dim is None else np.atleast_1d(dim).tolist()
    return tuple(int(each) % max(num_axes, 1) for each in dims) or tuple(range(num_axes))


def shape_of(v: Values) -> tuple[int, ...]:
    """Return the shape of the input, from its sizes or from itself."""
    return tuple(v["self_sym_sizes"]) if "self_sym_sizes" in v else np.shape(v["self"])


def _axes(v: Values) -> tuple[int, ...]:
    shape = shape_of(v)
    return tuple(axis for axis in axes_of(v.get("dim"), len(shape)) if axis < len(shape))


def spread(reduced: Array, v: Values) -> Array:
    """Return what was reduced, with its axes back and as often as the input has elements there."""
    if not v.get("keepdim", False):
        reduced = np.expand_dims(reduced, _axes(v))
    return np.broadcast_to(reduced, shape_of(v))


def _count(v: Values) -> int:
    return int(np.prod([shape_of(v)[axis] for axis in _axes(v)]))


def _evenly(g: Array, v: Values) -> Array:
    found = v["self"] == spread(v["result"], v)
    return np.asarray(spread(g, v) * found / found.sum(axis=_axes(v), keepdims=True))


def _at_indices(g: Array, v: Values) -> Array:
    shape, dim = shape_of(v), v["dim"]
    if not shape:
        return g
    indices = v["indices"].astype(np.int64)
    if not v.get("keepdim", True):
        g, indices = np.expand_dims(g, dim), np.expand_dims(indices, dim)
    gradient = np.zeros(shape)
    np.put_along_axis(gradient, indices, g, axis=dim)
    return gradient


def _others(x: Array, axis: int) -> Array:
    """Return for each element the product of all others: exact where one is 0, unlike y / x."""
    ones = np.ones_like(np.take(x, [0], axis=axis))
    before = np.cumprod(np.concatenate([ones, x], axis=axis), axis=axis)
    after = np.flip(
        np.cumprod(np.concatenate([ones, np.flip(x, axis)], axis=axis), axis=axis), axis
    )
    length = x.shape[axis]
    return before.take(range(length), axis=axis) * after.take(range(1, length + 1), axis=axis)


def _product_of_all(g: Array, v: Values) -> Array:
    x = v["self"]
    return g * _others(x.reshape(-1), 0).reshape(x.shape)


def _product(g: Array, v: Values) -> Array:
    x = v["self"]
    return spread(g, v) * (_others(x, v["dim"]) if x.ndim else np.ones(()))


def _deviation(v: Values) -> Array:
    x = v["self"]
    return np.asarray(x - x.mean(axis=_axes(v), keepdims=True))


def _free(v: Values) -> float:
    """Degrees of freedom: elements less the correction, which is 1 unless it is given."""
    correction = v.get("correction")
    return float(_count(v) - (1 if correction is None else correction))


def _variance(g: Array, v: Values) -> Array:
    return 2 * spread(g, v) * _deviation(v) / _free(v)


def _standard_deviation(g: Array, v: Values) -> Array:
    scaled = np.divide(g, v["result"] * _free(v), out=np.zeros_like(g), where=v["result"] != 0)
    return spread(scaled, v) * _deviation(v)


def _norm(g: Array, v: Values) -> Array:
    x, order = v["self"], float(v.get("ord", 2))
    if np.isinf(order):
        found = np.abs(x) == spread(v["result"], v)
        return np.asarray(
            spread(g, v) * np.sign(x) * found / found.sum(axis=_axes(v), keepdims=True)
        )
    y = spread(v["result"], v)
    ratio = np.divide(np.abs(x), y, out=np.zeros_like(x), where=y != 0)
    slope = np.where(x == 0, 0.0, np.power(np.where(x == 0, 1.0, ratio), order - 1))
    return np.asarray(spread(g, v) * np.sign(x) * slope)


def _running_sum(g: Array, v: Values) -> Array:
    return np.flip(np.cumsum(np.flip(g, v["dim"]), axis=v["dim"]), v["dim"]) if g.ndim else g


def _mean(g: Array, v: Values) -> Array:
    return spread(g, v) / _count(v)


_SIZE = {"self_sym_sizes": r"\text{shape}(x)", "dim": "d", "self_sym_numel": "n"}
_SCATTER = r"\operatorname{scatter}($g, \text{index} = $indices)"
_VAR = r"$g \cdot \frac{2}{$free} \cdot ($self - $mean)"
_DEVIATION = {"free": "n - c", "mean": r"\mu"}
_DERIVED = {"free": _free, "mean": lambda v: v["self"] - _deviation(v)}

_SUMS = (
    unary(
        "SumBackward0",
        r"\sum_i x_i",
        r"$g \cdot \mathbf{1}_{$self_sym_sizes}",
        spread,
        symbols=_SIZE,
    ),
    unary(
        "SumBackward1",
        r"\sum_{i \in d} x_i",
        r"$g \cdot \mathbf{1}_{$self_sym_sizes}",
        spread,
        symbols=_SIZE,
    ),
    unary(
        "MeanBackward0",
        r"\frac{1}{n} \sum_i x_i",
        r"\frac{$g}{$self_sym_numel} \cdot \mathbf{1}_{$self_sym_sizes}",
        _mean,
        symbols=_SIZE,
    ),
    unary(
        "MeanBackward1",
        r"\frac{1}{n_d} \sum_{i \in d} x_i",
        r"\frac{$g}{$n} \cdot \mathbf{1}_{$self_sym_sizes}",
        _mean,
        symbols=_SIZE | {"n": "n_d"},
        derived={"n": _count},
        needs=("self_sym_sizes",),
    ),
    unary(
        "CumsumBackward0",
        r"\sum_{j \le i} x_j",
        r"\sum_{j \ge i} {$g}_j",
        _running_sum,
        symbols=_SIZE,
    ),
    unary("ProdBackward0", r"\prod_i x_i", r"$g \cdot \prod_{j \ne i} {$self}_j", _product_of_all),
    unary(
        "ProdBackward1",
        r"\prod_{i \in d} x_i",
        r"$g \cdot \prod_{j \ne i} {$self}_j",
        _product,
    ),
    unary(
        "LogsumexpBackward0",
        r"\ln \sum_i e^{x_i}",
        r"$g \cdot e^{$self - $result}",
        lambda g, v: spread(g, v) * np.exp(v["self"] - spread(v["result"], v)),
    ),
)
_EXTREMES = (
    unary(
        "MaxBackward1",
        r"\max_i x_i",
        r"$g \cdot \frac{[$self = $result]}{k}",
        _evenly,
        remark=_EVENLY,
    ),
    unary(
        "MinBackward1",
        r"\min_i x_i",
        r"$g \cdot \frac{[$self = $result]}{k}",
        _evenly,
        remark=_EVENLY,
    ),
    unary(
        "AmaxBackward0",
        r"\max_{i \in d} x_i",
        r"$g \cdot \frac{[$self = $result]}{k}",
        _evenly,
        remark=_EVENLY,
    ),
    unary(
        "AminBackward0",
        r"\min_{i \in d} x_i",
        r"$g \cdot \frac{[$self = $result]}{k}",
        _evenly,
        remark=_EVENLY,
    ),
    unary(
        "MaxBackward0",
        r"\max_{i \in d} x_i",
        _SCATTER,
        _at_indices,
        symbols={"indices": "i"},
        remark=_FIRST,
    ),
    unary(
        "MinBackward0",
        r"\min_{i \in d} x_i",
        _SCATTER,
        _at_indices,
        symbols={"indices": "i"},
        remark=_FIRST,
    ),
    unary(
        "SortBackward0", r"\operatorname{sort}(x)", _SCATTER, _at_indices, symbols={"indices": "i"}
    ),
    unary(
        "TopkBackward0", r"\operatorname{topk}(x)", _SCATTER, _at_indices, symbols={"indices": "i"}
    ),
)
_SPREADS = (
    unary(
        "VarBackward0",
        r"\frac{1}{n - c} \sum_i (x_i - \mu)^2",
        _VAR,
        _variance,
        symbols=_DEVIATION,
        derived=_DERIVED,
        needs=("self",),
    ),
    unary(
        "StdBackward0",
        r"\sqrt{\frac{1}{n - c} \sum_i (x_i - \mu)^2}",
        r"\frac{$g}{($free) \cdot $result} \cdot ($self - $mean)",
        _standard_deviation,
        symbols=_DEVIATION,
        derived=_DERIVED,
        needs=("self", "result"),
    ),
    unary(
        "LinalgVectorNormBackward0",
        r"\left(\sum_i |x_i|^p\right)^{1/p}",
        r"$g \cdot \operatorname{sign}($self) \cdot {(|$self| / $result)}^{$ord - 1}",
        _norm,
        symbols={"ord": "p"},
        needs=("self", "result"),
        remark=N_("At the origin the derivative does not exist: torch takes 0."),
    ),
)

REDUCTIONS: Final[tuple[Formula, ...]] = (*_SUMS, *_EXTREMES, *_SPREADS)
