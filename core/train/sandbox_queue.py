"""The line in which students' own runs wait: one trains at a time, and the class goes first."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from core.language import _
from core.train.config import TrainConfig
from core.train.control import send
from core.train.device_lock import DeviceBusyError
from core.train.sandbox import MAX_SECONDS, check_sandbox, start_sandbox_run, sweep_sandbox
from core.train.state import read_state

MAX_WAITING: Final = 8
_LOOK_SECONDS: Final = 0.5
_GRACE: Final = 30.0  # seconds for start-up and the last checkpoint, beyond MAX_SECONDS
_WAY_SECONDS: Final = 20.0  # how long the sandbox holds back for a run of the class

Start = Callable[[TrainConfig], Path]


@dataclass(eq=False, slots=True)
class Ticket:
    """One student's wish. Fields change from waiting to a run, or to a refusal.

    Attributes:
        config: What to train.
        owner: Whose it is: the address of the browser; empty for nobody in particular.
        run: Name of the run, once it has been started.
        error: Why it was not started, as a sentence.
    """

    config: TrainConfig
    owner: str = ""
    run: str = ""
    error: str = ""


class SandboxQueue:
    """Starts one student's run after the other, in a thread that ends when nobody waits."""

    def __init__(self, start: Start = start_sandbox_run) -> None:
        """Make an empty line; `start` starts a run and returns its directory."""
        self._start_run = start
        self._lock = threading.Lock()
        self._starting = threading.Lock()  # held while a run is being started, which takes seconds
        self._waiting: list[Ticket] = []
        self._running: Path | None = None
        self._deadline = 0.0
        self._hold_until = 0.0
        self._thread: threading.Thread | None = None

    def enter(self, config: TrainConfig, owner: str = "") -> Ticket:
        """Stand at the end of the line.

        Raises:
            ValueError: If the line is full, the owner stands in it already, or the config is not
                one for the sandbox.
        """
        check_sandbox(config)
        with self._lock:
            if len(self._waiting) >= MAX_WAITING:
                message = _("{count} runs are waiting, the most that this server lines up.")
                raise ValueError(message.format(count=MAX_WAITING))
            if owner and any(each.owner == owner for each in self._waiting):
                raise ValueError(_("A run from your computer is waiting already."))
            ticket = Ticket(config=config, owner=owner)
            self._waiting.append(ticket)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="sandbox", daemon=True)
                self._thread.start()
            return ticket

    def leave(self, ticket: Ticket) -> None:
        """Stop waiting; no effect once the run has started."""
        with self._lock:
            if ticket in self._waiting:
                self._waiting.remove(ticket)

    def place(self, ticket: Ticket) -> int:
        """Return how many are in front, the running one included, plus one; 0 if not waiting."""
        with self._lock:
            if ticket not in self._waiting:
                return 0
            return self._waiting.index(ticket) + 1 + (self._running is not None)

    def make_way(self, seconds: float = _WAY_SECONDS) -> None:
        """Stop the student's run that trains now and start none for a while: the class begins."""
        with self._lock:
            self._hold_until = time.monotonic() + seconds
        with self._starting:
            running = self._running
        if running is None:
            return
        _stop(running)
        until = time.monotonic() + seconds
        while not read_state(running).is_final and time.monotonic() < until:
            time.sleep(0.05)

    def _work(self) -> None:
        while self._turn():
            time.sleep(_LOOK_SECONDS)

    def _turn(self) -> bool:
        """Look once; return whether there is anything left to do."""
        if self._running is not None:
            self._watch(self._running)
            return True
        with self._lock:
            if not self._waiting:
                self._thread = None
                return False
            ticket = self._waiting[0]
        with self._starting:
            if time.monotonic() >= self._hold_until:
                self._serve(ticket)
        return True

    def _serve(self, ticket: Ticket) -> None:
        try:
            directory = self._start_run(ticket.config)
        except DeviceBusyError:
            return  # a run of the class trains: look again
        except (ValueError, OSError, RuntimeError) as error:
            ticket.error = str(error)
        else:
            self._running, ticket.run = directory, directory.name
            self._deadline = time.monotonic() + MAX_SECONDS + _GRACE
        self.leave(ticket)

    def _watch(self, running: Path) -> None:
        if read_state(running).is_final:
            self._running = None
            sweep_sandbox(running.parent)
        elif time.monotonic() > self._deadline:
            self._deadline += _GRACE
            _stop(running)


def _stop(directory: Path) -> None:
    with suppress(ValueError, OSError):  # it is gone: what was wanted
        send(directory, "stop", by="sandbox")
