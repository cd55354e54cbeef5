"""Fewer points that draw the same curve: every peak, every dip, every marker stays."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from core.train.events import Event
from core.train.records import NON_FINITE, Records

TRACES: Final = ("loss", "grad_norm", "learning_rate", "tokens_per_second", "resident_bytes")

Indices = npt.NDArray[np.intp]


def decimate(records: Records, max_points: int, traces: Sequence[str] = TRACES) -> Records:
    """Return at most `max_points` of the records, plus every flagged one, in their order.

    The records are cut into equal stretches and each stretch keeps the lowest and the highest
    value of every trace, so a spike of one step is still there. First, last, overall lowest and
    highest stay, and so does every record flagged as not finite, however many there are.

    Args:
        records: Structured array, one row per step.
        max_points: At least 2 and 2 per trace.
        traces: The fields that are drawn.

    Raises:
        ValueError: `max_points` leaves no room for a lowest and a highest per trace.
    """
    smallest = 2 * len(traces) + 2
    if max_points < smallest:
        raise ValueError(f"max_points is {max_points}; {len(traces)} traces need {smallest}")
    if len(records) <= max_points:
        return records
    num_stretches = (max_points - 2) // (2 * len(traces))
    kept = [np.array([0, len(records) - 1]), np.flatnonzero(records["flags"] & NON_FINITE)]
    for trace in traces:
        kept.extend(extremes(records[trace], num_stretches))
    chosen: Records = records[np.unique(np.concatenate(kept))]
    return chosen


def extremes(values: npt.NDArray[np.generic], num_stretches: int) -> tuple[Indices, Indices]:
    """Return the index of the lowest and of the highest value of each stretch.

    NaN is never the lowest or the highest unless a stretch holds nothing else.
    """
    length = -(-len(values) // num_stretches)
    num_padded = -(-len(values) // length) * length
    padded = np.full(num_padded, np.nan)
    padded[: len(values)] = values
    stretches = padded.reshape(-1, length)
    missing = np.isnan(stretches)
    starts = np.arange(len(stretches)) * length
    low = np.where(missing, np.inf, stretches).argmin(axis=1) + starts
    high = np.where(missing, -np.inf, stretches).argmax(axis=1) + starts
    # The last stretch is filled up with NaN; when it is all NaN the index is its first, a real one.
    return low, high


def thin_events(
    events: Sequence[Event], max_memory: int = 500, max_samples: int = 50
) -> tuple[Event, ...]:
    """Return the events a late reader needs: all that matter, few of the many.

    Of the memory events at most `max_memory` stay, evenly spread, first and last included; of
    the samples the newest `max_samples`; of every other kind all.
    """
    memory = [index for index, event in enumerate(events) if event["kind"] == "memory"]
    samples = [index for index, event in enumerate(events) if event["kind"] == "sample"]
    if len(memory) > max_memory:
        places = np.linspace(0, len(memory) - 1, max_memory).round().astype(int)
        left_out = set(memory) - {memory[place] for place in places}
    else:
        left_out = set()
    left_out.update(samples[:-max_samples])
    return tuple(event for index, event in enumerate(events) if index not in left_out)
