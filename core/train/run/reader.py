"""The reader of a run directory: follows a run that may still be written, or already be dead."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from core.language import N_
from core.train.run.directory import EVENTS_FILE, METRICS_FILE, read_info
from core.train.run.events import Event, parse_lines
from core.train.run.records import HEADER, NO_RECORDS, RECORD, Records, check_header, parse_records
from core.train.run.state import RunState, read_state


def check_run(directory: Path) -> dict[str, Any]:
    """Return run.json of a run that can be read, as far as the heads of its files tell.

    Raises:
        ValueError: run.json or metrics.bin is damaged, not ours, or of a newer format.
    """
    info = read_info(directory)
    path = directory / METRICS_FILE
    header = _read_from(path, 0, HEADER.size)
    if len(header) == HEADER.size:  # else no step is written yet
        check_header(header, path)
    return info


LEFT_OUT: Final = N_("Damaged on the disk and left out: {count} steps or events")


@dataclass(frozen=True, kw_only=True, slots=True)
class Increment:
    """What was committed since the last look, oldest first.

    `num_damaged` records and lines were left out because the disk spoilt them.
    """

    records: Records
    events: tuple[Event, ...]
    num_damaged: int = 0


class RunReader:
    """Follows one run; every call of `read_new` returns only what is new."""

    def __init__(self, directory: Path) -> None:
        """Open the run.

        Raises:
            DamagedRunError: the directory holds no run that can be read.
        """
        self.directory = directory
        self.info = read_info(directory)
        # How far it has come, in bytes of metrics.bin (0: header unread) and events.jsonl.
        self._past_metrics = self._past_events = 0

    def read_state(self) -> RunState:
        """Return the run's state, "crashed" when its worker is gone."""
        return read_state(self.directory, float(self.info["created"]))

    def read_new(self) -> Increment:
        """Return what was committed since the last call; half-written parts wait.

        Raises:
            ValueError: metrics.bin is not ours or has a newer format.
        """
        records, num_bad_records = self._new_records()
        data = _read_from(self.directory / EVENTS_FILE, self._past_events)
        events, num_bad_lines = parse_lines(data)
        self._past_events += data.rfind(b"\n") + 1
        num_damaged = num_bad_records + num_bad_lines
        return Increment(records=records, events=events, num_damaged=num_damaged)

    def _new_records(self) -> tuple[Records, int]:
        path = self.directory / METRICS_FILE
        start = self._past_metrics
        data = _read_from(path, start)
        if start == 0:
            if len(data) < HEADER.size:
                return NO_RECORDS, 0
            check_header(data[: HEADER.size], path)
            start, data = HEADER.size, data[HEADER.size :]
        records, good = parse_records(data)
        # Bad ones at the end may be in the making, and a resume will cut them off: wait.
        num_whole = int(np.flatnonzero(good)[-1]) + 1 if good.any() else 0
        good = good[:num_whole]
        sound = records[:num_whole] if good.all() else records[:num_whole][good]
        self._past_metrics = start + num_whole * RECORD.size
        return sound, num_whole - len(sound)


def _read_from(path: Path, offset: int, num_bytes: int = -1) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(num_bytes)
    except OSError:
        # Not written yet, or deleted while we watch: there is nothing new.
        return b""
