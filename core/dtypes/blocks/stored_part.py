"""The same part of a tensor in two storages, with all that a picture of it shows.

A picture's row is a run of `num_columns` neighbours in one row of the tensor, so that a block of 32
is two picture rows of 16, a group of 128 eight of them, and a whole tensor has one scale for all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from core.dtypes.blocks.block_formats import BlockFormat
from core.dtypes.blocks.block_layout import BlockSize
from core.dtypes.blocks.storage import Storage, Stored
from core.dtypes.blocks.storage_trials import Trial
from core.dtypes.rounding import Floats

Where = Literal["largest", "worst", "first"]
ALIGNMENT = 256  # values: the longest block begins at the top of the picture


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """Picture rows that share a scale."""

    first: int
    last: int
    scale: float  # what the numbers of these rows are multiplied with
    zero_point: float  # what is subtracted from their codes before; 0 where there is none


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """Where the rows of a picture begin in a tensor of shape (rows, columns)."""

    starts: tuple[tuple[int, int], ...]
    num_columns: int

    def cut(self, array: npt.NDArray[Any]) -> Floats:
        """Return those values as (picture rows, columns); NaN where the tensor has ended."""
        picture = np.full((len(self.starts), self.num_columns), np.nan)
        for row, (line, start) in enumerate(self.starts):
            values = array[line, start : start + self.num_columns]
            picture[row, : values.size] = values
        return picture


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Side(Trial):
    """A part of a tensor in one storage; arrays are (rows, columns), NaN where the tensor ended."""

    block_size: BlockSize  # values that share a scale; 1 for a plain cast, which has none
    original: Floats
    codes: Floats
    numbers: Floats  # what the codes mean before they are multiplied with the scale
    restored: Floats
    largest: float  # the largest number that the element can hold
    code_digits: int
    spans: tuple[Span, ...]  # which rows share a scale; empty for a plain cast


def make_sides(
    x: Floats, storages: Sequence[Storage], where: Where, *, num_rows: int, num_columns: int
) -> tuple[Side, ...]:
    """Return the same part of a tensor in each storage; "worst" is where the first loses most.

    The columns of the picture are a power of two, up to 16.
    """
    stored = [storage.store(x) for storage in storages]
    with np.errstate(invalid="ignore"):
        errors = stored[0].restored - x
    rows = choose_rows(x, errors, where, num_rows=num_rows, num_columns=num_columns)
    return tuple(_side(x, *pair, rows) for pair in zip(storages, stored, strict=True))


def choose_rows(
    values: Floats, errors: Floats, where: Where, *, num_rows: int, num_columns: int
) -> Rows:
    """Return the rows to look at: around the largest value, the worst error, or the first ones."""
    starts = [
        (line, start)
        for line in range(values.shape[0])
        for start in range(0, values.shape[1], num_columns)
    ]
    first = 0
    if where != "first":
        # What is no number, or came back as none, is looked at before all else.
        looked_at = np.nan_to_num(np.abs(values if where == "largest" else errors), nan=np.inf)
        line, column = np.unravel_index(int(looked_at.argmax()), looked_at.shape)
        first = starts.index((int(line), int(column) // ALIGNMENT * ALIGNMENT))
    first = max(min(first, len(starts) - num_rows), 0)
    return Rows(starts=tuple(starts[first : first + num_rows]), num_columns=num_columns)


def spans_of(
    rows: Rows, blocks: npt.NDArray[np.int64], scales: Floats, zeros: Floats
) -> tuple[Span, ...]:
    """Return the blocks of a part, from top to bottom.

    Of each value of the tensor `blocks` has the number of its block.
    """
    spans: list[Span] = []
    previous = None
    for row, (line, start) in enumerate(rows.starts):
        block = int(blocks[line, start])
        first = spans.pop().first if block == previous else row
        scale, zero = float(scales[block]), float(zeros[block])
        spans.append(Span(first=first, last=row, scale=scale, zero_point=zero))
        previous = block
    return tuple(spans)


def _side(x: Floats, storage: Storage, stored: Stored, rows: Rows) -> Side:
    element = storage.element
    original = rows.cut(x)
    largest = float(np.abs(original[np.isfinite(original)]).max(initial=0.0))
    spans: tuple[Span, ...] = ()
    if stored.blocks is not None:
        spans = spans_of(rows, stored.blocks.astype(np.int64), stored.scales, stored.zero_points)
    return Side(
        name=storage.name,
        bits=storage.bits_per_value,
        block_size=storage.fmt.block_size if isinstance(storage.fmt, BlockFormat) else 1,
        stats=stored.stats,
        original=original,
        codes=rows.cut(stored.codes),
        numbers=rows.cut(stored.numbers),
        restored=rows.cut(stored.restored),
        # A plain cast has no scale that would bring the largest value to the end of its range.
        largest=element.max if stored.scales.size else max(largest, element.eps),
        code_digits=-(-element.bits // 4),
        spans=spans,
    )
