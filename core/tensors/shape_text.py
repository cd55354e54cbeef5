"""Shapes as a reader writes and drags them: "3, 1", and one length of it exchanged for another."""

import math
import re
from collections.abc import Sequence
from typing import Final

from core.language import _

Shape = tuple[int, ...]
MAX_RANK: Final = 5
ABSENT: Final = -1  # the length of a dimension that is not there
MAX_LENGTH: Final = 1_000_000
MAX_ELEMENTS: Final = 2**40
STOPS: Final = (*range(17), 20, 24, 32, 48, 64, 96, 128, 224, 256, 512, 768, 1024, 4096, 8192)
_SHAPE: Final = re.compile(r"\(?\s*(\d+(?:[\s,]+\d+)*)?[\s,]*\)?")


def shape_in(text: str) -> Shape:
    """Return the shape in a text: lengths with commas, or `()` for a single number.

    >>> shape_in("(3, 1)"), shape_in("4"), shape_in("()")
    ((3, 1), (4,), ())

    Raises:
        ValueError: If there is something else, or too much.
    """
    match = _SHAPE.fullmatch(text.strip())
    lengths = tuple(map(int, re.findall(r"\d+", match[0][:200]))) if match else ()
    if not match or not text.strip() or len(lengths) > MAX_RANK:
        message = _("{text} is no shape of up to {count} lengths, such as 3, 1.")
        raise ValueError(message.format(text=repr(text), count=MAX_RANK))
    if max(lengths, default=0) > MAX_LENGTH or math.prod(lengths) > MAX_ELEMENTS:
        message = _("{text} is too large: a length ends at {length}, a tensor at {count} elements.")
        most = {"length": f"{MAX_LENGTH:,}", "count": f"{MAX_ELEMENTS:,}"}
        raise ValueError(message.format(text=repr(text), **most))
    return lengths


def written_shape(shape: Sequence[int]) -> str:
    """Return a shape as `shape_in` reads it.

    >>> written_shape((3, 1)), written_shape(())
    ('3, 1', '()')
    """
    return ", ".join(map(str, shape)) if shape else "()"


def with_length(shape: Sequence[int], dim: int, length: int) -> Shape:
    """Return a shape with another length at `dim`, counted from the right: -1 is the last.

    Dimensions that are missing on the way become 1, as broadcasting has it; `ABSENT` takes the
    dimension away, and all to the left of it.

    >>> with_length((4,), -3, 2), with_length((3, 1), -2, ABSENT)
    ((2, 1, 4), (1,))
    """
    if length == ABSENT:
        return tuple(shape[dim + 1 :]) if dim < -1 else ()
    padded = (1,) * (-dim - len(shape)) + tuple(shape)
    place = len(padded) + dim
    return (*padded[:place], length, *padded[place + 1 :])


def stops_of(shape: Sequence[int], dim: int) -> tuple[int, ...]:
    """Return the lengths that a slider of `dim` leads through, what it is now among them.

    `ABSENT` stands first where it takes away no other dimension.
    """
    is_there = len(shape) >= -dim
    now = {shape[dim]} if is_there else set()
    can_go = -dim >= len(shape)
    return (*((ABSENT,) if can_go else ()), *sorted({*STOPS, *now}))
