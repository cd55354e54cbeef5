"""A finished run, seen again as if it were live: what had been written down at a moment.

Time is the run's own, in seconds since its first line. Long waits, such as the night between a
crash and the resume, are cut short. A faster replay is a matter of whoever asks: at speed 10 the
moment is ten times the seconds that have passed.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from core.language import _
from core.train.run.events import Event
from core.train.run.reader import Increment, RunReader
from core.train.run.records import Records
from core.train.run.state import STATES, RunState

MIN_SPEED: Final = 1.0
MAX_SPEED: Final = 60.0
LONGEST_WAIT: Final = 30.0  # seconds of the run's time in which nothing is written; more is cut

Moments = npt.NDArray[np.float64]


def read_speed(asked: float | str) -> float:
    """Return a replay speed, also one that is written in an address.

    Raises:
        ValueError: it is no number, or outside MIN_SPEED to MAX_SPEED.
    """
    shown: object = repr(str(asked)[:20])
    with suppress(ValueError):
        shown = speed = float(asked)
        if MIN_SPEED <= speed <= MAX_SPEED:  # NaN is in no range
            return speed
    raise ValueError(
        _("The replay speed is {speed}; choose a number from {low:g} to {high:g}.").format(
            speed=shown, low=MIN_SPEED, high=MAX_SPEED
        )
    )


@dataclass(frozen=True, slots=True)
class Place:
    """How much has been shown: numbers of records and of events."""

    num_records: int = 0
    num_events: int = 0


class Replay:
    """The whole of a run, and what of it was there at each moment."""

    def __init__(self, records: Records, events: Sequence[Event], last_state: RunState) -> None:
        """Lay the run out in time.

        `last_state`: how it ended; shown once everything has been.
        """
        self._records, self._events, self._last_state = records, tuple(events), last_state
        times = np.array([float(event.get("time") or 0.0) for event in events])
        self._record_moments, self._event_moments = _moments(records["time"], times)

    @property
    def seconds(self) -> float:
        """How long the replay takes at speed 1."""
        return float(max([*self._record_moments[-1:], *self._event_moments[-1:]], default=0.0))

    def place(self, moment: float) -> Place:
        """Return how much had been written `moment` seconds after the first line."""
        records = np.searchsorted(self._record_moments, moment, side="right")
        events = np.searchsorted(self._event_moments, moment, side="right")
        return Place(int(records), int(events))

    def between(self, start: Place, end: Place) -> Increment:
        """Return what came from one place to another, as a reader of the live run got it."""
        return Increment(
            records=self._records[start.num_records : end.num_records],
            events=self._events[start.num_events : end.num_events],
        )

    def state(self, place: Place) -> RunState:
        """Return the state that the run had at a place."""
        if place == Place(len(self._records), len(self._events)):
            return self._last_state
        state = RunState(state="starting")
        for event in self._events[: place.num_events]:
            state = _after(state, event)
        if not place.num_records:
            return state
        last = self._records[place.num_records - 1]
        step, attempt = int(last["step"]), int(last["attempt"])
        return replace(state, step=step, attempt=attempt, time=float(last["time"]))


def _after(state: RunState, event: Event) -> RunState:
    """Return the state that an event leads to; most lead nowhere."""
    kind, op, value = event["kind"], event.get("op"), event.get("value")
    if kind == "state" and event.get("state") in STATES:
        reason, message = str(event.get("reason", "")), str(event.get("message", ""))
        return replace(state, state=str(event["state"]), reason=reason, message=message)
    if kind != "ack" or not event.get("accepted"):
        return state
    if op == "set_learning_rate_multiplier" and value is not None:
        return replace(state, learning_rate_multiplier=float(value))
    return replace(state, max_steps_per_second=value) if op == "set_max_steps_per_second" else state


def _moments(records: Moments, events: Moments) -> tuple[Moments, Moments]:
    """Return for each record and each event the seconds since the first line, long waits cut."""
    times = np.nan_to_num(np.concatenate([records, events]), nan=0.0)
    order = np.argsort(times, kind="stable")
    waits = np.diff(times[order], prepend=times[order][:1])
    moments = np.empty_like(times)
    moments[order] = np.cumsum(np.clip(waits, 0.0, LONGEST_WAIT))
    # A clock that was set back must not change the order in which the run was written.
    in_order = np.maximum.accumulate
    return in_order(moments[: len(records)]), in_order(moments[len(records) :])


class ReplayReader:
    """Stands in for a `RunReader`: shows a finished run from its first line, as if it were live."""

    def __init__(
        self, directory: Path, speed: float | str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Read the run; its replay begins now.

        `speed`: from MIN_SPEED to MAX_SPEED, or the text of such a number.

        Raises:
            ValueError: the run cannot be read, has not ended, or the speed is out of range.
        """
        self._speed = read_speed(speed)
        reader = RunReader(directory)
        self.directory, self.info = directory, reader.info
        state, whole = reader.read_state(), reader.read_new()
        if not state.is_final:
            message = _("The run {name} has not ended; follow it live, or replay it afterwards.")
            raise ValueError(message.format(name=directory.name))
        self.replay = Replay(whole.records, whole.events, state)
        self._clock, self._began = clock, clock()
        self._shown = Place()

    @property
    def moment(self) -> float:
        """Seconds of the run's time that have been replayed."""
        return (self._clock() - self._began) * self._speed

    def read_state(self) -> RunState:
        """Return the state that the run had at this moment."""
        return self.replay.state(self.replay.place(self.moment))

    def read_new(self) -> Increment:
        """Return what was written between the last call and this moment."""
        place = self.replay.place(self.moment)
        news = self.replay.between(self._shown, place)
        self._shown = place
        return news
