"""What a running worker is asked for: commands as small numbered files, and a signal to end.

Every command is a file of its own, so that it leaves a trace.
"""

import json
import os
import re
import signal
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final, Self, cast

from filelock import FileLock

from core.language import _
from core.train.run.directory import CONTROL_FOLDER
from core.train.run.disk import RunStorageError, storage_error, to_json, write_atomically
from core.train.run.events import Event, read_events

RANGES: Final[dict[str, tuple[float, float]]] = {
    "set_learning_rate_multiplier": (0.0, 100.0),
    "set_max_steps_per_second": (0.1, 1000.0),
}
OPS: Final = ("pause", "resume", "step", "stop", "go_back", "snapshot", *RANGES)

_FILE_NAME: Final = re.compile(r"[0-9]{6,9}\.json")
_RESCAN_SECONDS: Final = 0.1
_MAX_AT_ONCE: Final = 100
_MAX_BYTES: Final = 4096
_MAX_WAIT_SECONDS: Final = 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """One command as the worker gets it; `number` is its place in the order, from 1.

    Attributes:
        op: One of OPS; empty when the file could not be understood.
        value: The number that a `set_...` op sets; None lifts the steps-per-second limit.
        error: Why it must be refused; empty when it is sound.
    """

    number: int
    op: str
    value: float | None = None
    by: str = ""
    error: str = ""


def check_command(op: object, value: object = None) -> None:
    """Accept a command's op and value, or say what is wrong with them.

    Raises:
        ValueError: the op is unknown, needs a number, takes none, or the number is out of range.
    """
    if op not in OPS:
        message = _("{op!r} is not a command to a run; use one of: {ops}.")
        raise ValueError(message.format(op=str(op)[:40], ops=_(", ").join(OPS)))
    if op not in RANGES:
        if value is not None:
            message = _("The command {op} takes no value, but {value!r} was given; leave it out.")
            raise ValueError(message.format(op=op, value=str(value)[:40]))
        return
    if value is None and op == "set_max_steps_per_second":
        return
    low, high = RANGES[str(op)]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not low <= cast("float", value) <= high:  # NaN is in no range
        message = _("The command {op} needs a number from {low:g} to {high:g}, not {value!r}.")
        raise ValueError(message.format(op=op, low=low, high=high, value=str(value)[:40]))


def send(directory: Path, op: str, value: float | None = None, by: str = "page") -> int:
    """Put a command into the run's inbox and return its number.

    Raises:
        ValueError: the op or its value is not allowed.
        RunStorageError: the run directory cannot be written to.
    """
    check_command(op, value)
    folder = directory / CONTROL_FOLDER
    try:
        folder.mkdir(exist_ok=True)
        # Two pages may send at once: the lock gives each command a number of its own.
        with FileLock(directory / "control.lock", timeout=_MAX_WAIT_SECONDS):
            number = max(_numbers(folder), default=0) + 1
            command = {"op": op, "value": value, "by": by, "time": time.time()}
            write_atomically(folder / f"{number:06d}.json", to_json(command))
            return number
    except RunStorageError:
        raise
    except OSError as error:  # the lock's Timeout is one too
        raise storage_error(folder, error) from error


def last_acknowledged(events: Iterable[Event]) -> int:
    """Return the number of the newest command that a worker has answered; 0 if there is none."""
    numbers = [event.get("command") for event in events if event["kind"] == "ack"]
    return max((number for number in numbers if isinstance(number, int)), default=0)


class Inbox:
    """The worker's end: hands out each command once, in order."""

    def __init__(self, directory: Path, after: int | None = None) -> None:
        """Start behind command number `after`, by default the last one acknowledged."""
        self._folder = directory / CONTROL_FOLDER
        self._last = last_acknowledged(read_events(directory)) if after is None else after
        self._waiting: deque[int] = deque()
        self._changed, self._next_scan = -1, 0.0

    def poll(self) -> tuple[Command, ...]:
        """Return the commands that came since the last call; costs microseconds when none did."""
        try:
            changed = self._folder.stat().st_mtime_ns
        except OSError:
            return ()
        now = time.monotonic()
        # Two files made within one tick of the clock share a time: look again now and then.
        if changed != self._changed or now >= self._next_scan:
            self._changed = changed
            self._scan(now)
        if not self._waiting:
            return ()
        num_now = min(len(self._waiting), _MAX_AT_ONCE)
        return tuple(self._read(self._waiting.popleft()) for _number in range(num_now))

    def _scan(self, now: float) -> None:
        self._waiting.extend(sorted(n for n in _numbers(self._folder) if n > self._last))
        if self._waiting:
            self._last = max(self._last, self._waiting[-1])
        # A folder with thousands of files takes milliseconds: spend at most 2 % of the time here.
        spent = time.monotonic() - now
        self._next_scan = now + max(_RESCAN_SECONDS, 50 * spent)

    def _read(self, number: int) -> Command:
        try:
            with (self._folder / f"{number:06d}.json").open("rb") as file:
                data = json.loads(file.read(_MAX_BYTES))
        except (OSError, ValueError, RecursionError) as error:
            return Command(number=number, op="", error=str(error))
        if not isinstance(data, dict):
            return Command(number=number, op="", error=_("A command must be a JSON object."))
        op, value, by = data.get("op"), data.get("value"), str(data.get("by", ""))[:40]
        try:
            check_command(op, value)
        except ValueError as error:
            return Command(number=number, op=str(op)[:40], by=by, error=str(error))
        return Command(number=number, op=str(op), value=value, by=by)


def _numbers(folder: Path) -> list[int]:
    with os.scandir(folder) as entries:
        return [int(entry.name[:-5]) for entry in entries if _FILE_NAME.fullmatch(entry.name)]


class StopSignal:
    """Remembers SIGTERM and Ctrl-C as a wish: the run ends after its step, with a checkpoint."""

    requested = False

    def listen(self) -> Self:
        """Take the place of the handlers that would end the process at once."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._heard)
        return self

    def _heard(self, _number: int, _frame: FrameType | None) -> None:
        self.requested = True
