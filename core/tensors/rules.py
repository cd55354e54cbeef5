"""How shape and strides follow from a call, without torch.

Each rule takes the layout before and the call's arguments, and gives what torch gives: the new
layout and whether it is a view of the same storage, a copy, or the same object. (Compared with
torch on random chains in the tests.)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from core.tensors.layout import Layout, fresh
from core.tensors.views import explain_view

Kind = Literal["view", "copy", "same", "new"]


@dataclass(frozen=True, slots=True)
class Predicted:
    """What a call gives: `layout` of its result, and how it came by its storage."""

    kind: Kind
    layout: Layout


def axis(dim: int, ndim: int) -> int:
    """Return a dimension counted from the left.

    Raises:
        ValueError: If there is none.
    """
    least = max(ndim, 1)  # torch lets 0 and -1 stand for the missing dimension of a scalar
    if not -least <= dim < least:
        raise ValueError(f"dimension {dim} is outside [{-least}, {least - 1}]")
    return dim % least


def unsqueeze(x: Layout, dim: int) -> Layout:
    """Put in a dimension of length 1; its stride is that of a step over all behind it."""
    dim = axis(dim, x.ndim + 1)
    step = x.shape[dim] * x.stride[dim] if dim < x.ndim else 1
    return replace(
        x,
        shape=(*x.shape[:dim], 1, *x.shape[dim:]),
        stride=(*x.stride[:dim], step, *x.stride[dim:]),
    )


def permute(x: Layout, dims: Sequence[int]) -> Layout:
    """Reorder the dimensions; nothing else changes."""
    order = [axis(dim, x.ndim) for dim in dims]
    if sorted(order) != list(range(x.ndim)):
        raise ValueError(f"{tuple(dims)} does not name each of {x.ndim} dimensions once")
    return replace(
        x, shape=tuple(x.shape[dim] for dim in order), stride=tuple(x.stride[dim] for dim in order)
    )


def expand(x: Layout, shape: Sequence[int]) -> Layout:
    """Repeat without a copy: a dimension of length 1 becomes longer with stride 0."""
    num_new = len(shape) - x.ndim
    if not x.ndim and min(shape, default=0) >= 0:
        return replace(x, shape=tuple(shape), stride=(0,) * len(shape))
    if num_new < 0:
        raise ValueError(f"{len(shape)} lengths for {x.ndim} dimensions")
    lengths, strides = list(shape), [0] * len(shape)
    for dim in reversed(range(len(shape))):
        old = x.shape[dim - num_new] if dim >= num_new else 1
        behind = lengths[dim + 1] * strides[dim + 1] if dim + 1 < len(shape) else 1
        strides[dim] = x.stride[dim - num_new] if dim >= num_new else behind
        if lengths[dim] == -1 and dim >= num_new:
            lengths[dim] = old
        if lengths[dim] != old:
            if old != 1 or lengths[dim] < 0:
                raise ValueError(f"length {old} cannot be expanded to {lengths[dim]}")
            strides[dim] = 0
    return replace(x, shape=tuple(lengths), stride=tuple(strides))


def reshape(x: Layout, shape: Sequence[int]) -> Predicted:
    """Return a view if there can be one, else a copy.

    Raises:
        ValueError: If the number of elements differs.
    """
    verdict = explain_view(x.shape, x.stride, shape)
    if verdict.kind in {"size", "infer"}:
        raise ValueError(f"shape {tuple(shape)} does not hold {x.numel} elements")
    made = replace(x, shape=verdict.shape, stride=verdict.stride)
    return Predicted("view", made) if verdict.ok else Predicted("copy", fresh(made))
