"""The same part of a tensor in two storages, with all that a picture of it shows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.dtypes.blocks.block_format import BlockFormat
from core.dtypes.blocks.block_part import Rows, Span, Where, choose_rows, spans_of
from core.dtypes.blocks.error_stats import ErrorStats
from core.dtypes.blocks.splitting import BlockSize
from core.dtypes.blocks.storage import Storage, Stored
from core.dtypes.rounding import Floats


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Side:
    """A part of a tensor in one storage; arrays are (rows, columns), NaN where the tensor ended.

    Attributes:
        name: The storage.
        bits: Bits per value, scales included.
        block_size: Values that share a scale; 1 for a plain cast, which has none.
        stats: The error over the whole tensor.
        original: The values.
        codes: What is stored.
        numbers: What the codes mean before they are multiplied with the scale.
        restored: What comes back.
        largest: The largest number that the element can hold.
        code_digits: Hexadecimal digits of a code.
        spans: Which rows share a scale; empty for a plain cast.
    """

    name: str
    bits: float
    block_size: BlockSize
    stats: ErrorStats
    original: Floats
    codes: Floats
    numbers: Floats
    restored: Floats
    largest: float
    code_digits: int
    spans: tuple[Span, ...]


def make_sides(
    x: Floats, storages: Sequence[Storage], where: Where, *, num_rows: int, num_columns: int
) -> tuple[Side, ...]:
    """Return the same part of a tensor in each storage.

    Args:
        x: The tensor as (rows, columns).
        storages: The storages; "worst" looks where the first of them loses most.
        where: One of `WHERES`.
        num_rows: Rows of the picture.
        num_columns: Columns of the picture, a power of two up to 16.
    """
    stored = [storage.store(x) for storage in storages]
    with np.errstate(invalid="ignore"):
        errors = stored[0].restored - x
    rows = choose_rows(x, errors, where, num_rows=num_rows, num_columns=num_columns)
    return tuple(_side(x, *pair, rows) for pair in zip(storages, stored, strict=True))


def _side(x: Floats, storage: Storage, stored: Stored, rows: Rows) -> Side:
    element = storage.element
    original = rows.cut(x)
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
        largest=element.max if stored.scales.size else max(_largest(original), element.eps),
        code_digits=-(-element.bits // 4),
        spans=tuple(_spans(stored, rows)),
    )


def _spans(stored: Stored, rows: Rows) -> list[Span]:
    if stored.blocks is None:
        return []
    return spans_of(rows, stored.blocks.astype(np.int64), stored.scales, stored.zero_points)


def _largest(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(np.abs(finite).max(initial=0.0))
