"""Where a tensor loses and how much, small enough to be drawn: tiles, and a histogram."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from core.dtypes.blocks.error_stats import ErrorStats
from core.dtypes.blocks.storage import Storage
from core.dtypes.rounding import Floats

MAX_TILE_ROWS: Final = 48
MAX_TILE_COLUMNS: Final = 64
LOW_DECADE, HIGH_DECADE = -7.0, 2.0  # of |error| / RMS of the tensor, the ends of the histogram
BINS_PER_DECADE: Final = 8


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Loss:
    """What one storage loses of a tensor.

    Attributes:
        name: The storage.
        tiles: RMS error of each tile / typical size of the tensor; NaN where values were lost.
        shares: Share of the values in each bin of |error|.
        exact_share: Share of the values that came back unchanged.
        stats: The error in numbers.
    """

    name: str
    tiles: Floats
    shares: Floats
    exact_share: float
    stats: ErrorStats


def make_losses(x: Floats, storages: Sequence[Storage]) -> tuple[Loss, ...]:
    """Return what each storage loses of a tensor of shape (rows, columns)."""
    return tuple(_loss(x, storage) for storage in storages)


def _loss(x: Floats, storage: Storage) -> Loss:
    stored = storage.store(x)
    shares, exact_share = error_histogram(x, stored.restored)
    return Loss(
        name=storage.name,
        tiles=tile_errors(x, stored.restored),
        shares=shares,
        exact_share=exact_share,
        stats=stored.stats,
    )


def typical_size(x: Floats) -> float:
    """Return the root mean square of the finite values; 1 where all of them are zero."""
    finite = x[np.isfinite(x)]
    size = float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0
    return size or 1.0


def tile_errors(x: Floats, restored: Floats) -> Floats:
    """Return the root mean square error of each tile, as a share of the tensor's typical size.

    A tile in which something became NaN or infinite, or was so before, is NaN.

    Args:
        x: The tensor as (rows, columns).
        restored: What came back.
    """
    with np.errstate(invalid="ignore"):
        squares = ((restored - x) / typical_size(x)) ** 2
    squares[~np.isfinite(squares)] = np.nan
    rows = _edges(x.shape[0], MAX_TILE_ROWS)
    columns = _edges(x.shape[1], MAX_TILE_COLUMNS)
    sums = np.add.reduceat(np.add.reduceat(squares, rows, axis=0), columns, axis=1)
    heights, widths = np.diff([*rows, x.shape[0]]), np.diff([*columns, x.shape[1]])
    return np.asarray(np.sqrt(sums / np.outer(heights, widths)))


def _edges(length: int, most: int) -> npt.NDArray[np.int64]:
    num_tiles = min(length, most)
    return np.asarray(np.arange(num_tiles) * length // num_tiles, dtype=np.int64)


def histogram_centers() -> Floats:
    """Return the middles of the bins, as |error| / typical size."""
    num_bins = round((HIGH_DECADE - LOW_DECADE) * BINS_PER_DECADE)
    edges = np.linspace(LOW_DECADE, HIGH_DECADE, num_bins + 1)
    return np.asarray(10 ** ((edges[:-1] + edges[1:]) / 2))


def error_histogram(x: Floats, restored: Floats) -> tuple[Floats, float]:
    """Return the share of the values in each bin of |error|, and the share without any error.

    Args:
        x: The tensor, any shape.
        restored: What came back.
    """
    with np.errstate(invalid="ignore"):
        errors = np.abs(restored - x).reshape(-1) / typical_size(x)
    finite = errors[np.isfinite(errors)]
    wrong = finite[finite > 0]
    decades = np.clip(np.log10(wrong), LOW_DECADE, HIGH_DECADE)
    num_bins = round((HIGH_DECADE - LOW_DECADE) * BINS_PER_DECADE)
    counts = np.histogram(decades, num_bins, (LOW_DECADE, HIGH_DECADE))[0]
    total = max(finite.size, 1)
    return counts / total, (finite.size - wrong.size) / total
