"""One run kept in memory for all who watch it, and the messages they get; a recording's too."""

import json
import re
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from core.train.run.disk import to_json
from core.train.run.fields import AROUND, CATEGORIES
from core.train.run.history import EventHistory, RecordHistory
from core.train.run.reader import Increment, RunReader
from core.train.run.recorded import recorded_preset, recorded_run
from core.train.run.records import COLUMNS as ALL_COLUMNS
from core.train.run.records import to_columns
from core.train.run.replay import MAX_SPEED, MIN_SPEED, ReplayReader
from core.train.run.state import RunState

News = tuple[Increment, RunState]  # what one look at the disk found
COLUMNS: Final = tuple(name for name in ALL_COLUMNS if name != "seconds")
MAX_POINTS: Final = 1500  # of a late joiner's curves
MAX_BEHIND: Final = 5000  # records; who lacks more gets a snapshot
MAX_EVENTS_BEHIND: Final = 200  # an event takes as much memory as a dozen records
MAX_ENCODED: Final = 30  # messages kept: whoever asks for odd positions must not fill the memory
LOOK_SECONDS: Final = 0.5  # from one message to the next, of a replay
SHOWN_SECONDS: Final = 15.0  # a recording takes about that long to watch
_ID: Final = re.compile(r"([a-z0-9-]+):([0-9]{1,12}):([0-9]{1,12})", re.ASCII)


def names_in_js() -> str:
    """Return the names of columns and of kinds of memory, as the scripts know them."""
    names = {"COLUMNS": COLUMNS, "CATEGORIES": CATEGORIES, "AROUND": AROUND}
    return "".join(f"const {name} = {json.dumps(each)}\n" for name, each in names.items())


@dataclass(frozen=True, slots=True)
class Position:
    """How much of a run a viewer has: numbers of records and of events."""

    run: str
    num_records: int
    num_events: int

    def __str__(self) -> str:
        """Return the position as an event id.

        >>> str(Position("20260102t030405z-a-00ff", 7, 2))
        '20260102t030405z-a-00ff:7:2'
        """
        return f"{self.run}:{self.num_records}:{self.num_events}"


def parse_position(event_id: str) -> Position | None:
    """Return the position that an event id names; None when it is not one of ours.

    >>> parse_position("20260102t030405z-a-00ff:7:2").num_records
    7
    """
    match = _ID.fullmatch(event_id)
    return Position(match[1], int(match[2]), int(match[3])) if match else None


def server_sent_event(kind: str, data: object, event_id: str = "") -> bytes:
    r"""Return one message of a stream.

    >>> server_sent_event("empty", {})
    b'event: empty\ndata: {}\n\n'
    """
    identity = f"id: {event_id}\n" if event_id else ""
    return f"event: {kind}\n{identity}data: {to_json(data)}\n\n".encode("utf-8", "replace")


class Feed:
    """The history of one run; a message is encoded once, however many viewers get it."""

    def __init__(self, directory: Path, reader: "RunReader | ReplayReader | None" = None) -> None:
        """Open the run, or take the reader that replays it."""
        self.run, self.directory = directory.name, directory
        self.version = 0
        self._reader = reader or RunReader(directory)
        self._state = RunState(state="starting")
        self._records = RecordHistory(MAX_BEHIND)
        self._events = EventHistory(MAX_EVENTS_BEHIND)
        self._step_seconds = 0.0  # of every record: a decimated trace cannot tell the mean speed
        self._encoded: dict[Position | None, bytes] = {}

    @property
    def position(self) -> Position:
        return Position(self.run, self._records.num_records, self._events.num_events)

    def look(self) -> News:
        """Read what is new on disk; runs in a thread and changes nothing that viewers see."""
        # State first: when it says "finished", everything before it is found by the read after.
        state = self._reader.read_state()
        return self._reader.read_new(), state

    def take(self, news: News) -> bool:
        """Add what `look` found; return whether viewers have something to learn."""
        increment, state = news
        records, events = increment.records, increment.events
        same_state = replace(state, time=0.0) == replace(self._state, time=0.0)
        self._state = state
        if self.version and same_state and not len(records) and not events:
            return False
        self._records.append(records)
        self._step_seconds += float(np.nansum(records["seconds"]))
        self._events.append(events)
        self._encoded.clear()
        self.version += 1
        return True

    def message(self, since: Position | None) -> bytes:
        """Return what a viewer at `since` lacks: an update, or a snapshot when it is far behind."""
        if since not in self._encoded:
            update = self._update(since) if since else None
            if update is None:  # whatever a viewer claims to have: one snapshot for all
                since = None
            message = update or self._encoded.get(None) or self._snapshot()
            if len(self._encoded) >= MAX_ENCODED:
                self._encoded.clear()
            self._encoded[since] = message
        return self._encoded[since]

    def _snapshot(self) -> bytes:
        data = {
            "run": self.run,
            "info": self._reader.info,
            "state": asdict(self._state),
            "columns": to_columns(self._records.curves(MAX_POINTS), COLUMNS),
            "events": self._events.needed(),
            **self._totals(),
        }
        return server_sent_event("snapshot", data, str(self.position))

    def curves(self) -> dict[str, object]:
        """Return the run without its texts: what another run's picture shows of it."""
        drawn = ("state", "ack", "eval")
        return {
            "run": self.run,
            "info": self._reader.info,
            "state": asdict(self._state),
            "columns": to_columns(self._records.curves(MAX_POINTS), COLUMNS),
            "events": [each for each in self._events.needed() if each["kind"] in drawn],
        }

    def _totals(self) -> dict[str, float]:
        return {"total_records": self._records.num_records, "step_seconds": self._step_seconds}

    def _update(self, since: Position) -> bytes | None:
        """Return what came after `since`; None when it is of another run or too far back."""
        records = self._records.since(since.num_records)
        events = self._events.since(since.num_events)
        if since.run != self.run or records is None or events is None:
            return None
        data = {
            "run": self.run,
            "state": asdict(self._state),
            "columns": to_columns(records, COLUMNS),
            "events": events,
            **self._totals(),
        }
        return server_sent_event("update", data, str(self.position))


def curves_of(directory: Path) -> dict[str, object]:
    """Return what is drawn of a run that stands beside another: its losses and what it is."""
    feed = Feed(directory)
    feed.take(feed.look())
    return feed.curves()


def recorded_messages(preset: str) -> tuple[bytes, ...]:
    """Return the messages of the recorded run shown for a preset, from its first steps on."""
    return _made(recorded_preset(preset))


@cache
def recorded_speed(preset: str) -> float:
    """Return how many times as fast as it was the recorded run for a preset is shown."""
    seconds = ReplayReader(recorded_run(preset), MIN_SPEED).replay.seconds
    return min(max(round(seconds / SHOWN_SECONDS), MIN_SPEED), MAX_SPEED)


@cache  # a row for each recording that there is, whatever is asked for
def _made(preset: str) -> tuple[bytes, ...]:
    num_looks = 0
    speed = recorded_speed(preset)
    reader = ReplayReader(recorded_run(preset), speed, lambda: num_looks * LOOK_SECONDS)
    feed = Feed(reader.directory, reader)
    messages: list[bytes] = []
    position: Position | None = None
    while reader.moment <= reader.replay.seconds + LOOK_SECONDS * speed:
        # Nobody waits for the process to start again: the first message holds the first steps.
        if feed.take(feed.look()) and feed.position.num_records:
            messages.append(feed.message(position))
            position = feed.position
        num_looks += 1
    return tuple(messages)
