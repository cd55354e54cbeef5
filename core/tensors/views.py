"""When `view` is possible, as a closed form, and what to do where it is not.

Neighbouring dimensions p and p+1 lie evenly if stride[p] = size[p+1] * stride[p+1]; then they may
be merged, or cut anywhere. Where they do not, the storage breaks, and a target shape must keep a
boundary there: with B the numbers of elements to the right of each break, and S those to the right
of each boundary of the target, `view` is legal exactly if B is a part of S. Lengths of 1 never
break. (torch: aten/src/ATen/TensorUtils.cpp, computeStride; exactness by comparison with it.)
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from core.tensors.layout import contiguous_strides

Kind = Literal["view", "size", "infer", "break"]


@dataclass(frozen=True, kw_only=True, slots=True)
class BreakPair:
    """Two neighbouring dimensions that a target would have to merge, and cannot."""

    dim: int  # the left one, p
    right: int  # the next that is longer than 1
    need: int  # the stride that p would need
    have: int  # the stride that it has
    target_dim: int  # the dimension of the target that spans both


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbours:
    """Two dimensions that lie side by side; those of length 1 between them do not matter."""

    dim: int
    right: int
    have: int  # the stride of the left one
    length: int  # of the right one
    step: int  # the stride of the right one

    @property
    def need(self) -> int:
        """The stride that the left one would need for both to be one dimension."""
        return self.length * self.step

    @property
    def can_be_merged(self) -> bool:
        """Whether one stride reaches the elements of both."""
        return self.have == self.need


@dataclass(frozen=True, kw_only=True, slots=True)
class ViewVerdict:
    """Whether a view is possible.

    `kind` is "view", or why not: "size" (elements do not match), "infer" (-1 twice, or it has no
    whole number), "break" (dimensions cannot be merged).
    """

    ok: bool
    kind: Kind
    shape: tuple[int, ...]  # the target with -1 filled in; as given where that is impossible
    stride: tuple[int, ...] = ()
    failures: tuple[BreakPair, ...] = ()  # from the left
    fixes: tuple[str, ...] = ()  # code behind the tensor; each copies all elements


def explain_view(shape: Sequence[int], stride: Sequence[int], target: Sequence[int]) -> ViewVerdict:
    """Say whether a tensor can be viewed as `target`, and if not, which dimensions forbid it.

    >>> explain_view((3, 2), (1, 3), (6,)).failures
    (BreakPair(dim=0, right=1, need=6, have=1, target_dim=0),)
    """
    shape, stride, target = tuple(shape), tuple(stride), tuple(target)
    filled = infer_size(target, math.prod(shape))
    if isinstance(filled, str):
        return ViewVerdict(ok=False, kind=filled, shape=target)
    if math.prod(shape) == 0:
        strides = stride if filled == shape else contiguous_strides(filled)
        return ViewVerdict(ok=True, kind="view", shape=filled, stride=strides)
    suffixes = _suffix_products(filled)
    failures = tuple(
        _failure(pair, math.prod(shape[pair.right :]), suffixes)
        for pair in neighbours(shape, stride)
        if not pair.can_be_merged and math.prod(shape[pair.right :]) not in suffixes
    )
    if failures:
        words = ", ".join(map(str, filled))
        fixes = (f".reshape({words})", f".contiguous().view({words})")
        return ViewVerdict(ok=False, kind="break", shape=filled, failures=failures, fixes=fixes)
    strides = _strides(shape, stride, filled)
    return ViewVerdict(ok=True, kind="view", shape=filled, stride=strides)


def neighbours(shape: Sequence[int], stride: Sequence[int]) -> tuple[Neighbours, ...]:
    """Return the pairs of neighbouring dimensions longer than 1, from the left.

    >>> [(pair.dim, pair.need, pair.have) for pair in neighbours((3, 2), (1, 3))]
    [(0, 6, 1)]
    """
    dims = [dim for dim, length in enumerate(shape) if length != 1]
    return tuple(
        Neighbours(dim=dim, right=right, have=stride[dim], length=shape[right], step=stride[right])
        for dim, right in itertools.pairwise(dims)
    )


def infer_size(target: Sequence[int], numel: int) -> tuple[int, ...] | Literal["size", "infer"]:
    """Return the target with its -1 replaced, or why that cannot be."""
    known = math.prod(length for length in target if length != -1)
    if any(length < -1 for length in target) or target.count(-1) > 1:
        return "infer"
    if -1 not in target:
        return tuple(target) if known == numel else "size"
    if known == 0:
        return "infer"  # any length would do
    if numel % known:
        return "size"
    return tuple(numel // known if length == -1 else length for length in target)


def _suffix_products(target: Sequence[int]) -> dict[int, int]:
    """Return elements to the right of each boundary -> the dimension right of it."""
    products, inner = {1: len(target)}, 1
    for dim in reversed(range(len(target))):
        inner *= target[dim]
        products[inner] = dim
    return products


def _failure(pair: Neighbours, num_inner: int, suffixes: dict[int, int]) -> BreakPair:
    """Name the target's dimension that would span the break: the next boundary left of it."""
    wider = min(product for product in suffixes if product > num_inner)
    return BreakPair(
        dim=pair.dim, right=pair.right, need=pair.need, have=pair.have, target_dim=suffixes[wider]
    )


def _strides(
    shape: tuple[int, ...], stride: tuple[int, ...], target: tuple[int, ...]
) -> tuple[int, ...]:
    """Return the view's strides: within an even stretch, each the product of what follows it."""
    if not shape:
        return (1,) * len(target)
    result: list[int] = []
    left = list(target)
    for numel, innermost in _stretches(shape, stride):
        inner = 1
        while left and (inner < numel or left[-1] == 1):
            result.append(inner * innermost)
            inner *= left.pop()
    return tuple(reversed(result))


def _stretches(shape: tuple[int, ...], stride: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Yield elements and innermost stride of each even stretch, from the right.

    As torch cuts them: a last dimension of length 1 may be one of its own, which hinders nothing.
    """
    numel, innermost = 1, stride[-1]
    for dim in reversed(range(len(shape))):
        numel *= shape[dim]
        is_uneven = dim > 0 and shape[dim - 1] != 1 and stride[dim - 1] != numel * innermost
        if dim == 0 or is_uneven:
            yield numel, innermost
            numel, innermost = 1, stride[dim - 1]
