"""Operations that move elements: the gradient moves back, and adds up where one went twice."""

from typing import Any, Final

import numpy as np

from core.autograd.formulas.formula import Array, Formula, Gradients, Input, Values, unary
from core.language import N_

_SIZE: Final = {"self_sym_sizes": r"\text{shape}(x)", "dim": "d"}
_RESHAPE: Final = r"\operatorname{reshape}($g, $self_sym_sizes)"
_ZEROS: Final = N_("Elements that were left out get 0.")
_TWICE: Final = N_("An element that was used several times gets the sum of all its gradients.")


def _reshape(g: Array, v: Values) -> Array:
    return g.reshape(v["self_sym_sizes"])


def sum_to(g: Array, shape: tuple[int, ...]) -> Array:
    """Return a gradient summed over the axes along which a tensor of this shape was repeated.

    The engine does this after each node; it is broadcasting backwards.
    """
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    stretched = tuple(axis for axis, n in enumerate(shape) if n == 1 and g.shape[axis] != 1)
    return np.asarray(g.sum(axis=stretched, keepdims=True))


def _unrepeat(g: Array, v: Values) -> Array:
    shape = (1,) * (len(v["repeats"]) - len(v["self_sym_sizes"])) + tuple(v["self_sym_sizes"])
    both = [n for pair in zip(v["repeats"], shape, strict=True) for n in pair]
    copies = tuple(range(0, len(both), 2))
    return np.asarray(g.reshape(both).sum(axis=copies).reshape(v["self_sym_sizes"]))


def _roll_back(g: Array, v: Values) -> Array:
    shifts = [-each for each in v["shifts"]]
    if v["dims"]:
        return np.roll(g, shifts, axis=tuple(v["dims"]))
    return np.roll(g, shifts[0])


def _put(g: Array, v: Values, where: tuple[Any, ...]) -> Array:
    gradient = np.zeros(v["self_sym_sizes"])
    gradient[where] = g
    return gradient


def _before(v: Values) -> tuple[slice, ...]:
    return (slice(None),) * int(v["dim"] % len(v["self_sym_sizes"]))


def _select(g: Array, v: Values) -> Array:
    return _put(g, v, (*_before(v), v["index"]))


def _slice(g: Array, v: Values) -> Array:
    return _put(g, v, (*_before(v), slice(v["start"], v["end"], v["step"])))


def _diagonal(g: Array, v: Values) -> Array:
    gradient = np.zeros(v["self_sym_sizes"])
    places = np.arange(gradient.size).reshape(gradient.shape)
    gradient.reshape(-1)[np.diagonal(places, v["offset"], v["dim1"], v["dim2"])] = g
    return gradient


def _cut(g: Array, v: Values) -> tuple[Array, ...]:
    """Return the parts of a concatenation, as long as its inputs were."""
    dim = v["dim"] % g.ndim
    ends = np.cumsum([shape[dim] for shape in v["input_shapes"]])[:-1]
    return tuple(np.split(g, ends, axis=dim))


def _unstack(g: Array, v: Values) -> tuple[Array, ...]:
    return tuple(np.moveaxis(g, v["dim"], 0))


def _join(parts: Gradients, v: Values) -> Array:
    """Return the gradients of all parts in one, with 0 for parts that nothing used."""
    size = v["split_size"]
    lengths = size if isinstance(size, tuple) else [size] * len(parts)
    gradient, at = np.zeros(v["self_sym_sizes"]), 0
    for part, length in zip(parts, lengths, strict=True):
        if part is not None:
            gradient[(*_before(v), slice(at, at + length))] = part
        at += length
    return gradient


def _restack(parts: Gradients, v: Values) -> Array:
    like = next(part for part in parts if part is not None)
    return np.stack([np.zeros_like(like) if p is None else p for p in parts], axis=v["dim"])


def _gather(g: Array, v: Values) -> Array:
    gradient = np.zeros(v["self"].shape)
    index = np.atleast_1d(v["index"]).astype(np.int64)  # a number is a vector of one, as in torch
    places = list(np.indices(index.shape))
    places[v["dim"]] = index
    np.add.at(np.atleast_1d(gradient), tuple(places), g)
    return gradient


def _index(g: Array, v: Values) -> Array:
    gradient = np.zeros(v["self_sym_sizes"])
    where: Any = tuple(slice(None) if each is None else each for each in v["indices"])
    np.add.at(gradient, where, g)
    return gradient


def _embedding(g: Array, v: Values) -> Array:
    indices = v["indices"].astype(np.int64)
    weights = np.broadcast_to((indices != v["padding_idx"])[..., None], g.shape).astype(np.float64)
    if v.get("scale_grad_by_freq"):
        _, inverse, counts = np.unique(indices, return_inverse=True, return_counts=True)
        weights = weights / counts[inverse].reshape(indices.shape)[..., None]
    gradient = np.zeros((v["weight_sym_argsize_0"], g.shape[-1]))
    np.add.at(gradient, indices, g * weights)
    return gradient


def _many(derivative: str, rule: Any, needs: tuple[str, ...]) -> tuple[Input]:  # noqa: ANN401
    return (Input(symbol="x_i", derivative=derivative, rule=rule, needs=needs, is_many=True),)


_RESHAPED = tuple(
    unary(node_type, r"\operatorname{reshape}(x)", _RESHAPE, _reshape, symbols=_SIZE)
    for node_type in (
        "ViewBackward0",
        "UnsafeViewBackward0",
        "ReshapeAliasBackward0",
        "SqueezeBackward0",
        "SqueezeBackward1",
        "SqueezeBackward2",
    )
)
_TURNED = (
    unary(
        "UnsqueezeBackward0",
        r"\operatorname{unsqueeze}(x, d)",
        r"\operatorname{squeeze}($g, $dim)",
        lambda g, v: np.squeeze(g, v["dim"]),
        symbols=_SIZE,
    ),
    unary("TBackward0", r"x^{\top}", r"$g^{\top}", lambda g, _v: g.T),
    unary(
        "TransposeBackward0",
        r"\operatorname{transpose}(x)",
        r"\operatorname{transpose}($g, $dim0, $dim1)",
        lambda g, v: np.swapaxes(g, v["dim0"], v["dim1"]) if g.ndim else g,
        symbols={"dim0": "d_0", "dim1": "d_1"},
    ),
    unary(
        "PermuteBackward0",
        r"\operatorname{permute}(x, p)",
        r"\operatorname{permute}($g, $dims^{-1})",
        lambda g, v: np.transpose(g, np.argsort(np.mod(v["dims"], max(g.ndim, 1)))),
        symbols={"dims": "p"},
    ),
    unary(
        "FlipBackward0",
        r"\operatorname{flip}(x)",
        r"\operatorname{flip}($g, $dims)",
        lambda g, v: np.flip(np.atleast_1d(g), v["dims"]).reshape(g.shape),
        symbols={"dims": "d"},
    ),
    unary(
        "RollBackward0",
        r"\operatorname{roll}(x, s)",
        r"\operatorname{roll}($g, -$shifts)",
        _roll_back,
        symbols={"shifts": "s"},
    ),
)
_REPEATED = (
    unary(
        "ExpandBackward0",
        r"\operatorname{expand}(x)",
        r"\sum_{\text{copies}} $g",
        lambda g, v: sum_to(g, tuple(v["self_sym_sizes"])),
        remark=_TWICE,
    ),
    unary(
        "RepeatBackward0",
        r"\operatorname{repeat}(x)",
        r"\sum_{\text{copies}} $g",
        _unrepeat,
        remark=_TWICE,
    ),
    unary(
        "GatherBackward0",
        "x[i]",
        r"\operatorname{scatter\_add}($g, \text{index} = $index)",
        _gather,
        symbols={"index": "i"},
        needs=("self", "index"),
        remark=_TWICE,
    ),
    unary(
        "IndexBackward0",
        "x[i]",
        r"\operatorname{scatter\_add}($g, \text{index} = $indices)",
        _index,
        symbols={"indices": "i"},
        remark=_TWICE,
    ),
    unary(
        "EmbeddingBackward0",
        "x[i]",
        r"\operatorname{scatter\_add}($g, \text{index} = $indices)",
        _embedding,
        symbols={"indices": "i"},
        remark=_TWICE,
    ),
)
_PARTS = (
    unary(
        "SelectBackward0",
        "x[i]",
        r"\operatorname{pad}($g, \text{at } $index)",
        _select,
        symbols={"index": "i"},
        remark=_ZEROS,
    ),
    unary(
        "SliceBackward0",
        "x[a:b]",
        r"\operatorname{pad}($g, $start : $end)",
        _slice,
        symbols={"start": "a", "end": "b"},
        remark=_ZEROS,
    ),
    unary(
        "DiagonalBackward0",
        r"\operatorname{diagonal}(x)",
        r"\operatorname{diag}($g)",
        _diagonal,
        remark=_ZEROS,
    ),
    unary(
        "TrilBackward0",
        r"\operatorname{tril}(x)",
        r"\operatorname{tril}($g)",
        lambda g, v: np.tril(g, v["diagonal"]),
        remark=_ZEROS,
    ),
    unary(
        "TriuBackward0",
        r"\operatorname{triu}(x)",
        r"\operatorname{triu}($g)",
        lambda g, v: np.triu(g, v["diagonal"]),
        remark=_ZEROS,
    ),
    unary(
        "SplitBackward0",
        r"\operatorname{split}(x)",
        r"\operatorname{cat}(\bar{y}_0, \bar{y}_1, \ldots)",
        _join,
        remark=_ZEROS,
    ),
    unary(
        "SplitWithSizesBackward0",
        r"\operatorname{split}(x)",
        r"\operatorname{cat}(\bar{y}_0, \bar{y}_1, \ldots)",
        lambda g, v: _join(g, {**v, "split_size": v["split_sizes"]}),
        remark=_ZEROS,
    ),
    unary(
        "UnbindBackward0",
        r"\operatorname{unbind}(x)",
        r"\operatorname{stack}(\bar{y}_0, \bar{y}_1, \ldots)",
        _restack,
        remark=_ZEROS,
    ),
)
_JOINED = (
    Formula(
        type="CatBackward0",
        forward=r"y = \operatorname{cat}(x_0, x_1, \ldots)",
        inputs=_many(r"$g[\text{part } i]", _cut, ("input_shapes",)),
    ),
    Formula(
        type="StackBackward0",
        forward=r"y = \operatorname{stack}(x_0, x_1, \ldots)",
        inputs=_many(r"$g[i]", _unstack, ("dim",)),
    ),
)

SHAPES: Final[tuple[Formula, ...]] = (*_RESHAPED, *_TURNED, *_REPEATED, *_PARTS, *_JOINED)
