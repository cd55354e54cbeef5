"""The time that a run is written down in: the wall clock's, but never backwards."""

import os
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from core.machine.nvml import Gpu
from core.train.run.directory import EVENTS_FILE, METRICS_FILE
from core.train.run.disk import AppendFile, to_json
from core.train.run.events import num_sound_event_bytes, parse_lines
from core.train.run.records import (
    HEADER,
    RECORD,
    StepRecord,
    check_header,
    num_sound_bytes,
    pack_header,
    pack_record,
    parse_records,
)
from core.train.run.state import RunState, write_state


class RunStore:
    """Writes a run; a step is committed when its record is complete.

    Opening cuts off a record or a line that a killed worker left half written.
    """

    def __init__(self, directory: Path, attempt: int = 1) -> None:
        """Open the run for writing, for an attempt from 1 on; the caller holds its worker lock.

        Raises:
            RunStorageError: the directory cannot be written to.
            ValueError: the files in it are not ours or have a newer format.
        """
        self.directory, self.attempt = directory, attempt
        self.gpu: Gpu | None = None  # that this attempt trains on, once it is known
        self.step: int | None = None  # the newest that this attempt has told of
        self._buffer = bytearray(RECORD.size)
        self._last_state = ""
        self._last_time = 0.0
        self._metrics = AppendFile(directory / METRICS_FILE, self._count_metrics)
        self._events = AppendFile(directory / EVENTS_FILE, self._count_events)
        if self._metrics.num_bytes == 0:
            self._metrics.append(pack_header())
        self.clock = RunClock(self._last_time)

    def _count_metrics(self, data: bytes) -> int:
        if len(data) < HEADER.size:
            return 0
        check_header(data[: HEADER.size], self.directory / METRICS_FILE)
        sound = num_sound_bytes(data[HEADER.size :])
        records, _good = parse_records(data[HEADER.size : HEADER.size + sound][-RECORD.size :])
        self._last_time = max(self._last_time, *records["time"].tolist(), 0.0)
        return HEADER.size + sound

    def _count_events(self, data: bytes) -> int:
        sound = num_sound_event_bytes(data)
        events, _num_damaged = parse_lines(data[:sound])
        self._next_seq = max((event["seq"] for event in events), default=-1) + 1
        return sound

    def append_step(self, record: StepRecord) -> None:
        """Commit one step; if the disk refuses, nothing of the record remains."""
        pack_record(self._buffer, record, self.attempt)
        self._metrics.append(self._buffer)
        self.step = record.step

    def append_event(self, kind: str, step: int, **data: object) -> int:
        """Add an event of a kind that `run.fields` knows; return its number. NaN becomes null."""
        seq = self._next_seq
        event = {"seq": seq, "time": self.clock.now(), "step": step, "attempt": self.attempt}
        line = to_json({**event, "kind": kind, **data}) + "\n"
        self._events.append(line.encode("utf-8", "replace"))
        self._next_seq += 1
        return seq

    def write_state(
        self,
        state: str,
        *,
        step: int,
        **more: Any,  # noqa: ANN401  as varied as the fields of RunState
    ) -> None:
        """Replace state.json; a change of state also waits for the disk.

        Raises:
            RunStorageError: the disk refuses; the state before stays.
        """
        value = RunState(
            state=state,
            step=step,
            attempt=self.attempt,
            pid=os.getpid(),
            time=self.clock.now(),
            gpu_name=self.gpu.name if self.gpu else "",
            gpu_uuid=self.gpu.uuid if self.gpu else "",
            **more,
        )
        write_state(self.directory, value, durable=state != self._last_state)
        self._last_state, self.step = state, step

    def sync(self) -> None:
        """Wait until the disk holds every step and event, as before a checkpoint."""
        self._metrics.sync()
        self._events.sync()

    def close(self) -> None:
        """Close both files; closing twice is allowed."""
        self._metrics.close()
        self._events.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class RunClock:
    """Gives unix times that only grow, so that no rate is negative and no time left absurd.

    A clock set forwards, or a laptop that slept, is followed. When the clock is set back, the
    run's time goes on from where it was.
    """

    def __init__(self, not_before: float = 0.0) -> None:
        """Begin at the present, or at `not_before` (unix seconds) if that is later."""
        self._shift = 0.0
        self._last, self._last_monotonic = not_before, time.monotonic()

    def now(self) -> float:
        """Return the run's unix time in seconds."""
        monotonic, wall = time.monotonic(), time.time() + self._shift
        if wall < self._last:
            behind = self._last + (monotonic - self._last_monotonic) - wall
            self._shift += behind
            wall += behind
        self._last, self._last_monotonic = wall, monotonic
        return wall
