"""A growing run in bounded memory: the newest part whole, the rest as what draws the same curves.

A server that watches a run for days holds as much of it as one that has just opened it. Of the old
part every peak, every dip and every marker stays.
"""

import math
from collections import deque
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Final

import numpy as np
import numpy.typing as npt

from core.train.run.events import Event
from core.train.run.records import NO_RECORDS, NON_FINITE, Records

TRACES: Final = ("loss", "grad_norm", "learning_rate", "tokens_per_second", "resident_bytes")
MAX_STRETCHES: Final = 600
MAX_RECORDS: Final = 12_000
# Evenly spread over the run; of the other kinds there are few.
MAX_OF_KIND: Final[Mapping[str, int]] = {
    "memory": 500,
    "eval": 1000,
    "sample": 50,
    "checkpoint": 50,
}

Indices = npt.NDArray[np.intp]
Place = tuple[int, Event]  # an event and how many came before it


def landmarks(records: Records, starts: Indices, traces: Sequence[str]) -> Indices:
    """Return the indices of the records that stay when each stretch keeps its extremes, rising.

    First, last, overall lowest and highest stay, and so does every record flagged as not finite,
    however many there are. The last of an attempt and the first of the next stay too: by them a
    reader tells which steps were done again. `starts` are the first records of the stretches.
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


class RecordHistory:
    """The records of a run: at least the last `num_whole` of them, and a decimated trace of all.

    The trace is cut into at most `max_stretches` stretches of the same number of records, each with
    its `landmarks`, so that an old part of a long run is drawn as finely as a new one.
    """

    def __init__(
        self, num_whole: int, max_records: int = MAX_RECORDS, max_stretches: int = MAX_STRETCHES
    ) -> None:
        """Start with nothing; beyond `max_records` the trace is thinned."""
        self.num_records = 0
        self._num_whole = num_whole
        self._max_records, self._max_stretches = max_records, max_stretches
        self._newest: deque[Records] = deque()  # in the parts in which they came
        self._num_newest = 0
        self._thinned = NO_RECORDS
        self._places = np.empty(0, np.int64)  # of the thinned ones among all, rising
        self._fresh: list[Records] = []  # what came after them
        self._limit = max_records

    @property
    def _num_fresh(self) -> int:
        return self.num_records - (int(self._places[-1]) + 1 if len(self._places) else 0)

    def append(self, records: Records) -> None:
        """Add records, one row per step, in the order they were written."""
        if not len(records):
            return
        self.num_records += len(records)
        self._fresh.append(records)
        whole = records[-self._num_whole :].copy()  # a copy holds no longer array than it shows
        self._newest.append(whole)
        self._num_newest += len(whole)
        while self._num_newest - len(self._newest[0]) >= self._num_whole:
            self._num_newest -= len(self._newest.popleft())
        if len(self._thinned) + self._num_fresh > self._limit:
            self._thin()

    def _thin(self) -> None:
        chosen, places = self._landmarks(self._width)
        self._thinned, self._places = self.trace()[chosen], places[chosen]
        self._fresh = []
        self._limit = max(self._max_records, 2 * len(chosen))

    @property
    def _width(self) -> int:
        width = 1
        while width * self._max_stretches < self.num_records:
            width *= 2  # two neighbours become one: their extremes are among those kept
        return width

    def _landmarks(self, width: int) -> tuple[Indices, Indices]:
        """Return which of the trace stay in stretches of `width`; where each of the trace lies."""
        new = np.arange(self.num_records - self._num_fresh, self.num_records)
        places = np.concatenate([self._places, new])
        starts = np.flatnonzero(np.diff(places // width, prepend=-1))
        return landmarks(self.trace(), starts, TRACES), places

    def since(self, num_records: int) -> Records | None:
        """Return all but the first `num_records`; None when some of them are no longer whole."""
        num_missing = self.num_records - num_records
        if not 0 <= num_missing <= self._num_newest:
            return None
        parts, num_found = [NO_RECORDS], 0
        for part in reversed(self._newest):
            if num_found >= num_missing:
                break
            parts.insert(1, part)
            num_found += len(part)
        return np.concatenate(parts)[num_found - num_missing :]

    def trace(self) -> Records:
        """Return the decimated trace: every record while the run is short."""
        return np.concatenate([self._thinned, *self._fresh])

    def curves(self, max_points: int) -> Records:
        """Return about `max_points` of the trace, its old part as fine as its new one.

        Every record while there are no more; the flagged and each attempt's ends come on top.
        """
        if self.num_records <= max_points:
            return self.trace()
        # A multiple of the width that was thinned with: each stretch still has its extremes.
        num_records = self._width * ((max_points - 2) // (2 * len(TRACES)))
        chosen, _places = self._landmarks(self._width * -(-self.num_records // num_records))
        curves: Records = self.trace()[chosen]
        return curves


class EventHistory:
    """The events of a run: the last `num_whole` of them, and those that a late reader needs.

    These are evaluations, memory events, samples and checkpoints evenly spread, the first and the
    last and those with the lowest and the highest loss among them; and every other event.
    """

    def __init__(self, num_whole: int) -> None:
        self.num_events = 0
        self._newest: deque[Event] = deque(maxlen=num_whole)
        self._spread = {kind: _EvenlySpread(most) for kind, most in MAX_OF_KIND.items()}
        self._others: list[Place] = []

    def append(self, events: Sequence[Event]) -> None:
        """Add events in the order they were written."""
        for event in events:
            place = (self.num_events, event)
            self._spread.get(event["kind"], self._others).append(place)
            self._newest.append(event)
            self.num_events += 1

    def since(self, num_events: int) -> tuple[Event, ...] | None:
        """Return all but the first `num_events`; None when some of them are no longer held."""
        num_missing = self.num_events - num_events
        if not 0 <= num_missing <= len(self._newest):
            return None
        return tuple(self._newest)[len(self._newest) - num_missing :]

    def needed(self) -> tuple[Event, ...]:
        """Return what a late reader needs, in the order it was written."""
        spread = [place for each in self._spread.values() for place in each.places()]
        places = sorted([*self._others, *spread], key=itemgetter(0))
        return tuple(event for _number, event in places)


class _EvenlySpread:
    """At most `most` events of one kind evenly spread, the last, the lowest and highest loss."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._stride, self._count = 1, 0
        self._kept: list[Place] = []
        self._outermost: list[Place] = []
        self._last: list[Place] = []

    def append(self, place: Place) -> None:
        """Add an event."""
        if self._count % self._stride == 0:
            self._kept.append(place)
        if len(self._kept) > self._most:
            self._kept, self._stride = self._kept[::2], 2 * self._stride
        self._count += 1
        self._last = [place]
        if math.isfinite(_loss(place)):
            known = [*self._outermost, place]
            self._outermost = [min(known, key=_loss), max(known, key=_loss)]

    def places(self) -> list[Place]:
        """Return those that stay, each once, in no order."""
        return list(dict([*self._kept, *self._outermost, *self._last]).items())


def _loss(place: Place) -> float:
    loss = place[1].get("validation_loss")
    return float(loss) if isinstance(loss, int | float) else math.nan
