"""How far sizes, strides and offset of `as_strided` may go without leaving the storage."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.tensors.examples import Example, examples

NUM_ELEMENTS: Final = 16  # of the storage that the page draws
MAX_LENGTH: Final = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Window(Example):
    """What as_strided is asked for, over a storage of 16 elements."""

    size: tuple[int, int]
    stride: tuple[int, int]
    offset: int = 0


WINDOWS: Final = examples("window", Window)


def room_left(
    num_elements: int, size: Sequence[int], stride: Sequence[int], offset: int = 0
) -> int:
    """Return how many elements of the storage lie behind the last one that is read.

    Negative, if it lies outside. Strides are not negative, as torch has it.

    >>> room_left(16, (4, 4), (4, 1))
    0
    """
    pairs = zip(size, stride, strict=True)
    return num_elements - 1 - offset - sum((length - 1) * step for length, step in pairs)


def largest_stride(
    num_elements: int, length: int, size: Sequence[int] = (), stride: Sequence[int] = ()
) -> int:
    """Return the largest stride of one more dimension that keeps all of it in the storage.

    Args:
        num_elements: Of the storage.
        length: Of the dimension that is asked about.
        size: Of the dimensions that are there already.
        stride: Of the same.

    >>> largest_stride(16, 4), largest_stride(16, 4, (4,), (1,))
    (5, 4)
    """
    return room_left(num_elements, size, stride) // max(length - 1, 1)
