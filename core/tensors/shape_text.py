"""Shapes as a reader writes and drags them: "3, 1", and one length of it exchanged for another."""

import math
import re
from collections.abc import Sequence
from typing import Final

from core.language import _

Shape = tuple[int, ...]
MAX_LENGTHS: Final = 8
MAX_RANK: Final = 5  # of shapes that are drawn
ABSENT: Final = -1  # the length of a dimension that is not there
MAX_LENGTH: Final = 1_000_000
MAX_ELEMENTS: Final = 2**40
STOPS: Final = (*range(17), 20, 24, 32, 48, 64, 96, 128, 224, 256, 512, 768, 1024, 4096, 8192)


def lengths_in(text: str, most: int = MAX_LENGTHS) -> Shape:
    """Return the lengths in a text, with commas or spaces between; -1 may be one of them.

    >>> lengths_in("2, -1"), lengths_in("")
    ((2, -1), ())

    Raises:
        ValueError: If there is something else, or too many.
    """
    inside = text.strip()
    if inside.startswith("(") and inside.endswith(")"):
        inside = inside[1:-1]
    words = inside.replace(",", " ").split()
    if len(words) > most or not all(re.fullmatch(r"-1|\d{1,9}", word) for word in words):
        raise _no_lengths(text, most)
    return tuple(map(int, words))


def _no_lengths(text: str, most: int) -> ValueError:
    message = _("{text} is not a list of up to {count} lengths, such as 3, 1.")
    return ValueError(message.format(text=repr(text), count=most))


def shape_in(text: str) -> Shape:
    """Return the shape in a text: lengths with commas, or `()` for a single number.

    >>> shape_in("(3, 1)"), shape_in("4"), shape_in("()")
    ((3, 1), (4,), ())

    Raises:
        ValueError: If there is something else, or too much.
    """
    lengths = lengths_in(text, MAX_RANK)
    if not text.strip() or -1 in lengths:
        raise _no_lengths(text, MAX_RANK)
    if max(lengths, default=0) > MAX_LENGTH or math.prod(lengths) > MAX_ELEMENTS:
        message = _(
            "{text} is too large: a length is at most {length}, a tensor has at most "
            "{count} elements."
        )
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
