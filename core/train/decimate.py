"""Fewer points that draw the same curve: every peak, every dip, every marker stays."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from core.train.records import NON_FINITE, Records

TRACES: Final = ("loss", "grad_norm", "learning_rate", "tokens_per_second", "resident_bytes")

Indices = npt.NDArray[np.intp]


def landmarks(records: Records, starts: Indices, traces: Sequence[str]) -> Indices:
    """Return the indices of the records that stay when each stretch keeps its extremes, rising.

    A spike of one step is still there: each stretch keeps the lowest and the highest value of
    every trace. First, last, overall lowest and highest stay, and so does every record flagged as
    not finite, however many there are. The last of an attempt and the first of the next stay too:
    by them a reader tells which steps were done again.

    Args:
        records: Structured array, one row per step, at least one.
        starts: The index of the first record of each stretch, rising from 0.
        traces: The fields that are drawn.
    """
    ends = np.flatnonzero(np.diff(records["attempt"]))
    broken = np.flatnonzero(records["flags"] & NON_FINITE)
    kept = [np.array([0, len(records) - 1]), ends, ends + 1, broken]
    for trace in traces:
        kept.extend(extremes(records[trace], starts))
    return np.unique(np.concatenate(kept))


def extremes(values: npt.NDArray[np.generic], starts: Indices) -> tuple[Indices, Indices]:
    """Return the index of the lowest and of the highest value of each stretch, the first of equals.

    NaN is never the lowest or the highest unless a stretch holds nothing else.
    """
    values = values.astype(np.float64)
    missing = np.isnan(values)
    low, high = np.where(missing, np.inf, values), np.where(missing, -np.inf, values)
    lowest = np.minimum.reduceat(low, starts)
    highest = np.maximum.reduceat(high, starts)
    return _first_equal(low, lowest, starts), _first_equal(high, highest, starts)


def _first_equal(
    values: npt.NDArray[np.float64], wanted: npt.NDArray[np.float64], starts: Indices
) -> Indices:
    """Return for each stretch the index of its first value that equals the wanted one."""
    lengths = np.diff(starts, append=len(values))
    found = np.flatnonzero(values == np.repeat(wanted, lengths))
    stretches = np.searchsorted(starts, found, side="right")
    first: Indices = found[np.flatnonzero(np.diff(stretches, prepend=0))]
    return first
