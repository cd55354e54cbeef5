"""What a run is doing: the lock that its worker holds, and `state.json`, checked by that lock."""

import errno
import json
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

import psutil
from filelock import FileLock, Timeout

from core.language import N_, _
from core.train.run.directory import LAUNCHED_FILE, LOCK_FILE, STATE_FILE
from core.train.run.disk import storage_error, to_json, write_atomically
from core.train.run.fields import is_count, is_number, is_text, numbers_by_name, optional
from core.units import ByteUnit, format_bytes

STATES: Final = (
    "starting",
    "running",
    "paused",
    "stopping",
    "stopped",
    "finished",
    "failed",
    "crashed",  # never written: a reader concludes it
)
FINAL_STATES: Final = frozenset({"stopped", "finished", "failed", "crashed"})

# From the start command to the worker's first write: an interpreter and its imports.
STARTING_SECONDS: Final = 60.0
# A reader that asks whether the lock is free holds it for microseconds: outlast such moments.
_PATIENCE_SECONDS: Final = 2.0
_MAX_BYTES: Final = 65_536

# Two readers of one process must not take each other for the worker.
_asking: Final = threading.Lock()

KILLED: Final = N_(
    "The training process ended without a word: it was killed, the machine ran out of memory or "
    "lost power. Every step that was written down is kept; resume goes on from the last checkpoint."
)
KILLED_HOLDING: Final = N_(
    "The training process ended without a word: it was killed, the machine ran out of memory or "
    "lost power. It last held {resident_bytes} of memory. Every step that was written down is "
    "kept; resume goes on from the last checkpoint."
)
KILLED_WATCHED: Final = N_(
    "The program ended without a word: it was killed, the machine ran out of memory or lost power. "
    "It last held {resident_bytes} of memory. Every step that was written down is kept."
)

OTHERS_ON_THE_GPU: Final = N_(
    "Other processes ({others}) hold {others_bytes} of this GPU: wait until they end, or train on "
    "another one."
)

TIME_IS_UP: Final = N_(
    "The time is up: {seconds} s of training gave {step} of {num_steps} steps. The learning rate "
    "came down to its end all the same."
)

NON_FINITE_PAUSE: Final = N_(
    "The loss or a gradient is no longer a finite number. The weights were left as they were; "
    "lower the learning rate and resume, or stop."
)
NOT_SAVED: Final = N_("A checkpoint could not be written; the run goes on without it.")


class RunBusyError(ValueError):
    """Another worker is training this run."""


@contextmanager
def hold_worker_lock(directory: Path) -> Iterator[None]:
    """Hold the run's lock while the block runs; the worker does so from start to end.

    It tries for two seconds: whoever only asks whether it is free holds it for microseconds.

    Raises:
        RunBusyError: another process holds it.
        RunStorageError: the directory cannot be written to.
    """
    lock = FileLock(directory / LOCK_FILE, poll_interval=0.02)
    if not directory.is_dir():  # the lock would make it again, and nothing else in it
        gone = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        raise storage_error(directory / LOCK_FILE, gone)
    try:
        lock.acquire(timeout=_PATIENCE_SECONDS)
    except Timeout as error:
        raise RunBusyError(
            _(
                "Run {name} is already being trained by another process; "
                "stop that one first or start a new run."
            ).format(name=directory.name)
        ) from error
    except OSError as error:
        raise storage_error(directory / LOCK_FILE, error) from error
    try:
        yield
    finally:
        lock.release()


def worker_is_alive(directory: Path) -> bool:
    """Say whether some process holds the run's lock; asking leaves nothing behind."""
    path = directory / LOCK_FILE
    if not path.exists():
        return False
    with _asking:
        try:
            with FileLock(path, blocking=False):
                return False
        except Timeout:
            return True
        except OSError:
            # A folder we may only read: nothing can be known, so believe what its state says.
            return path.exists()


@dataclass(frozen=True, kw_only=True, slots=True)
class RunState:
    """The run at one moment.

    Attributes:
        attempt: 1 for the first worker, one more for each resume and each way back.
        pid: The worker's process; None before it has started.
        trained_seconds: Time it has trained, pauses and waits for the governor left out.
        reason: A word for programs: "non_finite", "out_of_memory", "disk", ...
        message: A sentence for people, as a message id; `state_sentence` makes it readable.
        resident_bytes: Physical memory that the worker last held.
        gpu_name, gpu_uuid: Which GPU it trains on; empty before it has one, or if nobody tells.
        can_resume: Whether a process of ours can go on with it once it has ended.
    """

    state: str
    step: int = 0
    attempt: int = 1
    pid: int | None = None
    time: float = 0.0
    trained_seconds: float = 0.0
    learning_rate_multiplier: float = 1.0
    max_steps_per_second: float | None = None
    reason: str = ""
    message: str = ""
    values: Mapping[str, float] = field(default_factory=dict)
    resident_bytes: int | None = None
    gpu_name: str = ""
    gpu_uuid: str = ""
    can_resume: bool = True

    @property
    def is_final(self) -> bool:
        """Whether no worker will go on without a resume."""
        return self.state in FINAL_STATES


def write_state(directory: Path, state: RunState, *, durable: bool = True) -> None:
    """Replace the run's state.json."""
    write_atomically(directory / STATE_FILE, to_json(asdict(state)), durable=durable)


def read_state(directory: Path, created: float = 0.0) -> RunState:
    """Return the run's state as it really is: a run without a living worker has crashed.

    `created`: unix time the run was made; stands in for a state not yet written.
    """
    state = _stored_state(directory, created)
    if state.is_final or worker_is_alive(directory):
        return state
    # The worker writes its last state before it lets go of the lock: only now is it the last.
    state = _stored_state(directory, created)
    may_start = state.pid is None and abs(time.time() - state.time) < STARTING_SECONDS
    if state.is_final or (may_start and launched_is_alive(directory) is not False):
        return state
    held = state.resident_bytes
    values = {"resident_bytes": held} if held else {}
    message = KILLED_HOLDING if held else KILLED
    if not state.can_resume:
        message = KILLED_WATCHED
    return replace(state, state="crashed", reason="killed", message=message, values=values)


def state_sentence(state: RunState, unit: ByteUnit = "GiB") -> str:
    """Return what the run has to say of its state, in the reader's language; may be empty."""

    def written(brace: re.Match[str]) -> str:
        value = state.values.get(brace[1])
        if value is None:
            return brace[0]
        return format_bytes(value, unit) if brace[1].endswith("_bytes") else str(value)

    others = [OTHERS_ON_THE_GPU] if "others" in state.values else []
    messages = " ".join(_(message) for message in (state.message, *others) if message)
    # What a file says is filled in and never formatted: {x:1000000000} would fill the memory.
    return re.sub(r"\{(\w+)\}", written, messages)


def note_launched(directory: Path, pid: int) -> None:
    """Write down which process was started for the run, for the time before it speaks itself."""
    with suppress(psutil.Error):  # it is gone already, and the state will tell
        began = psutil.Process(pid).create_time()
        text = to_json({"pid": pid, "began": began})
        write_atomically(directory / LAUNCHED_FILE, text, durable=False)


def launched_is_alive(directory: Path) -> bool | None:
    """Say whether the process that was started last still lives; None if nobody knows."""
    try:
        data = json.loads((directory / LAUNCHED_FILE).read_bytes())
        process = psutil.Process(int(data["pid"]))
        # A number is given to another process some day; the moment of birth is not.
        same = abs(process.create_time() - float(data["began"])) < 1.0
        return same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
    except (OSError, ValueError, TypeError, KeyError, psutil.Error):
        return None


def _stored_state(directory: Path, created: float) -> RunState:
    try:
        with (directory / STATE_FILE).open("rb") as file:
            data = json.loads(file.read(_MAX_BYTES))
        return _parse(data)
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return RunState(state="starting", time=created)


def _parse(data: Any) -> RunState:  # noqa: ANN401  whatever JSON the file holds
    known = {field.name for field in fields(RunState)}
    state = RunState(**{key: value for key, value in data.items() if key in known})
    numbers = (state.time, state.learning_rate_multiplier, state.trained_seconds)
    counts: tuple[object, ...] = (state.step, state.attempt)
    maybe: tuple[object, ...] = (state.pid, state.resident_bytes)
    texts = (state.reason, state.message, state.gpu_name, state.gpu_uuid)
    sound = (
        all(is_number(number) and 0 <= number < 1e15 for number in numbers)
        and all(map(is_count, counts))
        and all(map(optional(is_count), maybe))
        and all(map(is_text, texts))
        and optional(is_number)(state.max_steps_per_second)
        and numbers_by_name(state.values)
        and isinstance(state.can_resume, bool)
    )
    if state.state not in STATES or not sound:
        raise ValueError(f"{state.state!r} is not a state of a run")
    return state
