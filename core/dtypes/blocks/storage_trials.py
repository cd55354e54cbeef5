"""The same tensor stored in many formats.

How much each of them loses is a number; where, is drawn as tiles and as a histogram.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from core.dtypes.blocks.error_stats import ErrorStats, error_stats
from core.dtypes.blocks.storage import Storage
from core.dtypes.rounding import Floats

MAX_TILE_ROWS: Final = 48
MAX_TILE_COLUMNS: Final = 64
LOW_DECADE, HIGH_DECADE = -7.0, 2.0  # of |error| / RMS of the tensor, the ends of the histogram
BINS_PER_DECADE: Final = 8


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Trial:
    """One storage of a tensor, its bits per value, scales included, and the error in numbers."""

    name: str
    bits: float
    stats: ErrorStats


def try_all(x: Floats, storages: Sequence[Storage]) -> tuple[Trial, ...]:
    """Return size and quality of each storage on this tensor."""
    return tuple(
        Trial(name=each.name, bits=each.bits_per_value, stats=error_stats(x, each.round(x)))
        for each in storages
    )


def best_per_bit(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """Return the trials that no other one beats in both size and quality, smallest first.

    Who loses values is not among them: its decibels speak of the others alone.
    """
    front: list[Trial] = []
    whole = [trial for trial in trials if not trial.stats.num_lost]
    for trial in sorted(whole, key=lambda each: (each.bits, -each.stats.sqnr_db)):
        quality = trial.stats.sqnr_db
        if np.isfinite(quality) and (not front or quality > front[-1].stats.sqnr_db):
            front.append(trial)
    return tuple(front)


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Loss(Trial):
    """Where one storage loses how much of a tensor."""

    tiles: Floats  # RMS error of each tile / typical size of the tensor; NaN where values were lost
    shares: Floats  # share of the values in each bin of |error|
    exact_share: float


def make_losses(x: Floats, storages: Sequence[Storage]) -> tuple[Loss, ...]:
    """Return what each storage loses of a tensor of shape (rows, columns)."""
    return tuple(_loss(x, storage) for storage in storages)


def _loss(x: Floats, storage: Storage) -> Loss:
    stored = storage.store(x)
    shares, exact_share = error_histogram(x, stored.restored)
    return Loss(
        name=storage.name,
        bits=storage.bits_per_value,
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
    """Return the share of the values in each bin of |error|, and the share without any error."""
    with np.errstate(invalid="ignore"):
        errors = np.abs(restored - x).reshape(-1) / typical_size(x)
    finite = errors[np.isfinite(errors)]
    wrong = finite[finite > 0]
    decades = np.clip(np.log10(wrong), LOW_DECADE, HIGH_DECADE)
    num_bins = round((HIGH_DECADE - LOW_DECADE) * BINS_PER_DECADE)
    counts = np.histogram(decades, num_bins, (LOW_DECADE, HIGH_DECADE))[0]
    total = max(finite.size, 1)
    return counts / total, (finite.size - wrong.size) / total
