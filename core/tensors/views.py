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
    """Two neighbouring dimensions that a target would have to merge, and cannot.

    Attributes:
        dim: The left one, p; the right one is the next that is longer than 1.
        right: The right one.
        need: The stride that p would need.
        have: The stride that it has.
        target_dim: The dimension of the target that spans both.
    """

    dim: int
    right: int
    need: int
    have: int
    target_dim: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbours:
    """Two dimensions that lie side by side; those of length 1 between them do not matter.

    Attributes:
        dim: The left one.
        right: The right one.
        have: The stride of the left one.
        length: Of the right one.
        step: The stride of the right one.
    """

    dim: int
    right: int
    have: int
    length: int
    step: int

    @property
    def need(self) -> int:
        """The stride that the left one would need for both to be one dimension."""
        return self.length * self.step

    @property
    def can_be_merged(self) -> bool:
        """Whether one stride reaches the elements of both."""
        return self.have == self.need


@dataclass(frozen=True, kw_only=True, slots=True)
class Fix:
    """A way to the wanted shape: code behind the tensor, and the bytes that it copies."""

    code: str
    num_elements_copied: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ViewVerdict:
    """Whether a view is possible.

    Attributes:
        ok: Whether.
        kind: "view", or why not: "size" (elements do not match), "infer" (-1 twice, or it has no
            whole number), "break" (dimensions cannot be merged).
        shape: The target with -1 filled in; as given where that is impossible.
        stride: Of the view; empty if there is none.
        failures: All pairs that cannot be merged, from the left.
        fixes: Ways to the shape.
    """

    ok: bool
    kind: Kind
    shape: tuple[int, ...]
    stride: tuple[int, ...] = ()
    failures: tuple[BreakPair, ...] = ()
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, slots=True)
class _Break:
    """Where the storage is uneven: left of `right`, with `inner` elements from there on."""

    dim: int
    right: int
    need: int
    have: int
    inner: int


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
    breaks = _breaks(shape, stride)
    suffixes = _suffix_products(filled)
    bad = [each for each in breaks if each.inner not in suffixes]
    if bad:
        failures = tuple(_pair(each, suffixes) for each in bad)
        fixes = _fixes(math.prod(shape), filled)
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


def _breaks(shape: tuple[int, ...], stride: tuple[int, ...]) -> list[_Break]:
    """Return the uneven places from the left; lengths of 1 are passed over."""
    return [
        _Break(pair.dim, pair.right, pair.need, pair.have, math.prod(shape[pair.right :]))
        for pair in neighbours(shape, stride)
        if not pair.can_be_merged
    ]


def _suffix_products(target: Sequence[int]) -> dict[int, int]:
    """Return elements to the right of each boundary -> the dimension right of it."""
    products, inner = {1: len(target)}, 1
    for dim in reversed(range(len(target))):
        inner *= target[dim]
        products[inner] = dim
    return products


def _pair(broken: _Break, suffixes: dict[int, int]) -> BreakPair:
    """Name the target's dimension that would span the break: the next boundary left of it."""
    wider = min(product for product in suffixes if product > broken.inner)
    return BreakPair(
        dim=broken.dim,
        right=broken.right,
        need=broken.need,
        have=broken.have,
        target_dim=suffixes[wider],
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


def _fixes(numel: int, target: tuple[int, ...]) -> tuple[Fix, ...]:
    words = ", ".join(map(str, target))
    return (
        Fix(code=f".reshape({words})", num_elements_copied=numel),
        Fix(code=f".contiguous().view({words})", num_elements_copied=numel),
    )
