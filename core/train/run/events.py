"""The lines of events.jsonl: state changes, acknowledgements, evaluations, samples, memory."""

import json
from pathlib import Path
from typing import Any

from core.train.run.directory import EVENTS_FILE
from core.train.run.fields import is_event

Event = dict[str, Any]


def parse_lines(data: bytes) -> tuple[tuple[Event, ...], int]:
    """Return the events in the whole lines of `data` and the number of lines that were none.

    A line whose fields are not what its kind has (`core.train.run.fields`) is none.
    What follows the last line end is left out: its writer may be half way.
    """
    whole = data[: data.rfind(b"\n") + 1].decode("utf-8", "replace")
    lines = [line for line in whole.split("\n") if line]
    events = tuple(event for line in lines if (event := _parse(line)) and is_event(event))
    return events, len(lines) - len(events)


def read_events(directory: Path) -> tuple[Event, ...]:
    """Return every event of the run that can be read."""
    try:
        return parse_lines((directory / EVENTS_FILE).read_bytes())[0]
    except OSError:
        return ()


def num_sound_event_bytes(data: bytes) -> int:
    """Return where the last readable line ends; what follows was never committed."""
    end = data.rfind(b"\n") + 1
    while end:
        start = data.rfind(b"\n", 0, end - 1) + 1
        if _parse(data[start : end - 1]) is not None:
            return end
        end = start
    return 0


def _parse(line: str | bytes) -> Event | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(event, dict) or not isinstance(event.get("kind"), str):
        return None
    return event if isinstance(event.get("seq"), int) else None
