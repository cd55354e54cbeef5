"""Where the elements of a tensor lie in its storage: numbers, without torch."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

LINE_BYTES: Final = 64  # what a CPU fetches at once
MAX_ADDRESSES: Final = 65_536


@dataclass(frozen=True, slots=True)
class AxisStep:
    """What one index adds to the address: `index * stride`, in elements."""

    axis: int
    index: int
    stride: int

    @property
    def jump(self) -> int:
        """How far it leads."""
        return self.index * self.stride


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """Shape, strides and offset; strides and offset count elements."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int = 0
    itemsize: int = 4  # bytes of an element
    storage_bytes: int = 0  # of the whole storage

    @property
    def numel(self) -> int:
        """Elements; 1 without dimensions."""
        return math.prod(self.shape)

    @property
    def num_bytes(self) -> int:
        """Bytes of all elements, each counted as often as it appears."""
        return self.numel * self.itemsize

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie side by side in row order; lengths of 1 do not matter."""
        return self.numel == 0 or self._is_even(reversed(range(self.ndim)))

    @property
    def is_channels_last(self) -> bool:
        """Whether images (N, C, H, W) or volumes (N, C, D, H, W) lie with their channels innermost.

        As torch's `is_contiguous(memory_format=torch.channels_last)`, of five dimensions
        `torch.channels_last_3d`: lengths of 1 do not matter (c10/core/Contiguity.h).
        """
        if self.ndim not in {4, 5}:
            return False
        return self._is_even((1, *reversed(range(2, self.ndim)), 0))

    def _is_even(self, dims: Iterable[int]) -> bool:
        """Whether each of these dimensions, innermost first, goes on where the one before ends."""
        expected = 1
        for dim in dims:
            if self.shape[dim] != 1:
                if self.stride[dim] != expected:
                    return False
                expected *= self.shape[dim]
        return True

    @property
    def last_address(self) -> int:
        """The largest address, in elements; the offset if there is no element."""
        if self.numel == 0:
            return self.offset
        pairs = zip(self.shape, self.stride, strict=True)
        return self.offset + sum((length - 1) * step for length, step in pairs)

    def addresses(self) -> npt.NDArray[np.int64]:
        """Return the address of every element, in elements, in the tensor's shape.

        Raises:
            ValueError: If there are more than 65,536 elements.
        """
        if self.numel > MAX_ADDRESSES:
            raise ValueError(f"{self.numel:,} elements; at most {MAX_ADDRESSES:,} are listed")
        result = np.full(self.shape, self.offset, dtype=np.int64)
        for axis, (length, step) in enumerate(zip(self.shape, self.stride, strict=True)):
            along = np.arange(length, dtype=np.int64) * step
            result += along.reshape([length if each == axis else 1 for each in range(self.ndim)])
        return result

    @property
    def ndim(self) -> int:
        """Dimensions."""
        return len(self.shape)

    def lines_touched(self) -> int:
        """Return how many cache lines hold an element of it."""
        first = self.addresses().reshape(-1) * self.itemsize
        last = first + self.itemsize - 1
        return len(np.union1d(first // LINE_BYTES, last // LINE_BYTES))

    def line_changes(self) -> int:
        """Return how often a walk in the tensor's order enters another cache line."""
        lines = self.addresses().reshape(-1) * self.itemsize // LINE_BYTES
        return int(np.count_nonzero(np.diff(lines))) + min(len(lines), 1)

    @property
    def overlaps_itself(self) -> bool:
        """Whether two of its elements share an address."""
        return len(np.unique(self.addresses())) < self.numel


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a fresh tensor; empty dimensions count as 1, as torch has it.

    >>> contiguous_strides((2, 3, 4))
    (12, 4, 1)
    """
    strides, step = [], 1
    for length in reversed(shape):
        strides.append(step)
        step *= max(length, 1)
    return tuple(reversed(strides))


def contiguous(shape: Sequence[int], itemsize: int = 4) -> Layout:
    """Return the layout of a fresh tensor."""
    strides = contiguous_strides(shape)
    size = math.prod(shape) * itemsize
    return Layout(shape=tuple(shape), stride=strides, itemsize=itemsize, storage_bytes=size)


def fresh(x: Layout) -> Layout:
    """Return the layout of a copy in row order."""
    return replace(x, stride=contiguous_strides(x.shape), offset=0, storage_bytes=x.num_bytes)


def trace_index(
    index: Sequence[int], shape: Sequence[int], stride: Sequence[int]
) -> tuple[AxisStep, ...]:
    """Return one step for each axis; their jumps and the offset add up to the address.

    Raises:
        ValueError: If an index is outside its axis.
    """
    steps: list[AxisStep] = []
    for axis, (place, length, step) in enumerate(zip(index, shape, stride, strict=True)):
        if not -length <= place < length:
            raise ValueError(f"index {place} is outside axis {axis} of length {length}")
        steps.append(AxisStep(axis, place % length, step))
    return tuple(steps)
