"""How shape, strides and offset follow from a call: predictions, without torch.

Each rule takes the layout before and the call's arguments, and gives what torch gives: the new
layout and whether it is a view of the same storage, a copy, or the same object. Calls without a
rule are not predicted. (Compared with torch on random chains in the tests.)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from core.tensors.layout import Layout, contiguous_strides, fresh
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


def own_axis(dim: int, x: Layout) -> int:
    """Return a dimension that is really there, counted from the left.

    Raises:
        ValueError: If it is not.
    """
    if not x.ndim:
        raise ValueError("a scalar has no dimension")
    return axis(dim, x.ndim)


def select(x: Layout, dim: int, index: int) -> Layout:
    """Drop a dimension: `x[index]` along it."""
    dim = own_axis(dim, x)
    if not -x.shape[dim] <= index < x.shape[dim]:
        raise ValueError(f"index {index} is outside dimension {dim} of length {x.shape[dim]}")
    offset = x.offset + index % x.shape[dim] * x.stride[dim]
    return replace(x, shape=_without(x.shape, dim), stride=_without(x.stride, dim), offset=offset)


def slice_along(x: Layout, dim: int, part: slice) -> Layout:
    """Take `start:stop:step` of a dimension; an empty part still moves the offset."""
    dim = own_axis(dim, x)
    length, step = x.shape[dim], 1 if part.step is None else part.step
    if step <= 0:
        raise ValueError("step must be greater than zero")
    start = _clamped(0 if part.start is None else part.start, 0, length)
    stop = _clamped(length if part.stop is None else part.stop, start, length)
    shape, stride = list(x.shape), list(x.stride)
    shape[dim], stride[dim] = -(-(stop - start) // step), x.stride[dim] * step
    offset = x.offset + start * x.stride[dim]
    return replace(x, shape=tuple(shape), stride=tuple(stride), offset=offset)


def narrow(x: Layout, dim: int, start: int, length: int) -> Layout:
    """Take `length` places of a dimension from `start` on, all of which must be there."""
    dim = own_axis(dim, x)
    first = start + x.shape[dim] if start < 0 else start
    if not 0 <= first <= first + length <= x.shape[dim]:
        raise ValueError(f"{length} places from {start} on are not within {x.shape[dim]}")
    return slice_along(x, dim, slice(first, first + length))


def unsqueeze(x: Layout, dim: int) -> Layout:
    """Put in a dimension of length 1; its stride is that of a step over all behind it."""
    dim = axis(dim, x.ndim + 1)
    step = x.shape[dim] * x.stride[dim] if dim < x.ndim else 1
    return replace(
        x,
        shape=(*x.shape[:dim], 1, *x.shape[dim:]),
        stride=(*x.stride[:dim], step, *x.stride[dim:]),
    )


def squeeze(x: Layout, dims: Sequence[int] | None = None) -> Layout:
    """Drop dimensions of length 1: all, or those of `dims` that are."""
    named = range(x.ndim) if dims is None else [axis(dim, x.ndim) for dim in dims]
    kept = [dim for dim in range(x.ndim) if not (dim in named and x.shape[dim] == 1)]
    return _picked(x, kept)


def permute(x: Layout, dims: Sequence[int]) -> Layout:
    """Reorder the dimensions; nothing else changes."""
    order = [axis(dim, x.ndim) for dim in dims]
    if sorted(order) != list(range(x.ndim)):
        raise ValueError(f"{tuple(dims)} does not name each of {x.ndim} dimensions once")
    return _picked(x, order)


def transpose(x: Layout, dim0: int, dim1: int) -> Layout:
    """Swap two dimensions."""
    order = list(range(x.ndim))
    if order:
        first, second = axis(dim0, x.ndim), axis(dim1, x.ndim)
        order[first], order[second] = order[second], order[first]
    return _picked(x, order)


def movedim(x: Layout, source: int, destination: int) -> Layout:
    """Take a dimension out and put it in elsewhere."""
    if not x.ndim:
        return transpose(x, source, destination)
    start, end = axis(source, x.ndim), axis(destination, x.ndim)
    order = [dim for dim in range(x.ndim) if dim != start]
    order.insert(end, start)
    return _picked(x, order)


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


def diagonal(x: Layout, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Layout:
    """Walk down two dimensions at once: their strides add up."""
    first, second = own_axis(dim1, x), own_axis(dim2, x)
    if first == second:
        raise ValueError("the two dimensions of a diagonal must differ")
    if offset >= 0:
        length = max(min(x.shape[first], x.shape[second] - offset), 0)
        jump = offset * x.stride[second]
    else:
        length = max(min(x.shape[first] + offset, x.shape[second]), 0)
        jump = -offset * x.stride[first]
    kept = _picked(x, [dim for dim in range(x.ndim) if dim not in {first, second}])
    return replace(
        kept,
        shape=(*kept.shape, length),
        stride=(*kept.stride, x.stride[first] + x.stride[second]),
        offset=x.offset + (jump if length else 0),
    )


def unfold(x: Layout, dim: int, size: int, step: int) -> Layout:
    """Slide a window along a dimension: windows overlap where `step` is below `size`."""
    dim = axis(dim, x.ndim)
    length = x.shape[dim] if x.ndim else 1
    if not (0 <= size <= length and step > 0):
        raise ValueError(f"no window of {size} moves by {step} along length {length}")
    if not x.ndim:
        return replace(x, shape=(size,), stride=(1,))
    shape, stride = list(x.shape), list(x.stride)
    shape[dim], stride[dim] = (x.shape[dim] - size) // step + 1, x.stride[dim] * step
    return replace(x, shape=(*shape, size), stride=(*stride, x.stride[dim]))


def view(x: Layout, shape: Sequence[int]) -> Layout | None:
    """Return the view, None where there can be none.

    Raises:
        ValueError: If the number of elements differs.
    """
    verdict = explain_view(x.shape, x.stride, shape)
    if verdict.kind in {"size", "infer"}:
        raise ValueError(f"shape {tuple(shape)} does not hold {x.numel} elements")
    return replace(x, shape=verdict.shape, stride=verdict.stride) if verdict.ok else None


def reshape(x: Layout, shape: Sequence[int]) -> Predicted:
    """Return a view if there can be one, else a copy."""
    viewed = view(x, shape)
    if viewed is not None:
        return Predicted("view", viewed)
    filled = explain_view(x.shape, x.stride, shape).shape
    return Predicted("copy", fresh(replace(x, shape=filled, stride=contiguous_strides(filled))))


def flatten(x: Layout, start_dim: int = 0, end_dim: int = -1) -> Predicted:
    """Merge a run of dimensions; of one dimension, the tensor itself comes back."""
    first, last = axis(start_dim, x.ndim), axis(end_dim, x.ndim)
    if first > last:
        raise ValueError("start_dim comes after end_dim")
    if not x.ndim:
        return reshape(x, (1,))
    if first == last:
        return Predicted("same", x)
    merged = math.prod(x.shape[first : last + 1])
    return reshape(x, (*x.shape[:first], merged, *x.shape[last + 1 :]))


def as_contiguous(x: Layout) -> Predicted:
    """Return the tensor itself if it is in row order, else a copy."""
    return Predicted("same", x) if x.is_contiguous else Predicted("copy", fresh(x))


def ravel(x: Layout) -> Predicted:
    """Return a view of a tensor in row order, and a copy of every other."""
    row = as_contiguous(x)
    flat = view(row.layout, (x.numel,))
    return Predicted("view" if row.kind == "same" else "copy", flat or row.layout)


def t(x: Layout) -> Layout:
    """Swap the two dimensions of a matrix; fewer are left as they are."""
    if x.ndim > 2:
        raise ValueError(f"{x.ndim} dimensions; t() takes two at most")
    return transpose(x, 0, 1) if x.ndim == 2 else x


def repeat(x: Layout, counts: Sequence[int]) -> Predicted:
    """Copy as often as told: always into a new storage, even once."""
    lengths = (1,) * (len(counts) - x.ndim) + x.shape
    shape = tuple(length * count for length, count in zip(lengths, counts, strict=True))
    return Predicted("copy", fresh(replace(x, shape=shape, stride=contiguous_strides(shape))))


def index(x: Layout, items: object) -> Layout | None:
    """Return `x[items]` for integers, slices, None and one ...; None where others stand."""
    parts = list(items) if type(items) is tuple else [items]
    is_other = any(part is not None and type(part) not in {int, slice, type(...)} for part in parts)
    if is_other or parts.count(...) > 1:  # torch takes a second one
        return None
    num_named = sum(part is not None and part is not ... for part in parts)
    if num_named > x.ndim:
        raise ValueError(f"{num_named} indices for {x.ndim} dimensions")
    if ... in parts:
        place = parts.index(...)
        parts[place : place + 1] = [slice(None)] * (x.ndim - num_named)
    dim = 0
    for part in parts:
        if part is None:
            x, dim = unsqueeze(x, dim), dim + 1
        elif type(part) is int:
            x = select(x, dim, part)
        elif type(part) is slice:
            x, dim = slice_along(x, dim, part), dim + 1
    return x


def _picked(x: Layout, dims: Sequence[int]) -> Layout:
    return replace(
        x,
        shape=tuple(x.shape[dim] for dim in dims),
        stride=tuple(x.stride[dim] for dim in dims),
    )


def _without(values: tuple[int, ...], dim: int) -> tuple[int, ...]:
    return values[:dim] + values[dim + 1 :]


def _clamped(place: int, low: int, high: int) -> int:
    return min(max(place + high if place < 0 else place, low), high)
