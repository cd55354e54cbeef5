"""How far sizes, strides and offset of `as_strided` may go without leaving the storage."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.language import N_

NUM_ELEMENTS: Final = 16  # of the storage that the page draws
MAX_LENGTH: Final = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """An example: what as_strided is asked for, over a storage of 16 elements."""

    key: str
    title: str
    size: tuple[int, int]
    stride: tuple[int, int]
    offset: int = 0


WINDOWS: Final = (
    Window(key="windows", title=N_("Rolling windows of 4"), size=(5, 4), stride=(2, 1)),
    Window(key="matrix", title=N_("A 4 × 4 matrix"), size=(4, 4), stride=(4, 1)),
    Window(key="transpose", title=N_("Its transpose"), size=(4, 4), stride=(1, 4)),
    Window(key="diagonal", title=N_("Its diagonal"), size=(1, 4), stride=(0, 5)),
    Window(key="anti", title=N_("Its other diagonal"), size=(1, 4), stride=(0, 3), offset=3),
    Window(key="inner", title=N_("Its inner block"), size=(2, 2), stride=(4, 1), offset=5),
    Window(key="expanded", title=N_("One row, four times"), size=(4, 4), stride=(0, 1)),
    Window(key="hankel", title=N_("Windows that move by 1"), size=(8, 8), stride=(1, 1)),
)


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

    Raises:
        ValueError: If these lie outside on their own, or a length is below 1.

    >>> largest_stride(16, 4), largest_stride(16, 4, (4,), (1,))
    (5, 4)
    """
    room = room_left(num_elements, size, stride)
    if room < 0 or min(length, *size, 1) < 1:
        raise ValueError(
            f"size {tuple(size)} and stride {tuple(stride)} do not fit {num_elements} elements; "
            "take lengths from 1 and smaller strides"
        )
    return room // max(length - 1, 1)
