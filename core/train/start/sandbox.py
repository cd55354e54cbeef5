"""A student's own run: small, short, marked as such, and never in the way of the class.

Students wait in a line: one of their runs trains at a time, and the class goes first.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from core.language import _
from core.train.config import TrainConfig
from core.train.control.commands import send
from core.train.control.device import DeviceBusyError, refuse_if_busy
from core.train.run.directory import runs_directory
from core.train.run.disk import sentence_of
from core.train.run.shelf import delete, list_runs
from core.train.run.state import FINAL_STATES, read_state
from core.train.start.launch import create_run, launch, timing_for
from core.train.start.plan import Prepared, device_in_use, predict_run, prepare
from core.train.start.presets import fit_steps
from core.units import format_count, format_seconds

MAX_STEPS: Final = 1000
MAX_PARAMETERS: Final = 1_000_000
MAX_SECONDS: Final = 60.0
MAX_BATCH_TOKENS: Final = 16_384  # tokens of one step: its memory stays small
NUM_KEPT: Final = 20

MAX_WAITING: Final = 8
MAX_OF_ADDRESS: Final = 6  # wishes that wait; a class may share one address
WISH_SECONDS: Final = 60.0  # how long a wish outlives its owner's last connection
_NUM_REMEMBERED: Final = 100  # owners whose newest wish is known
_LOOK_SECONDS: Final = 0.5
_GRACE: Final = 30.0  # seconds for start-up and the last checkpoint, beyond MAX_SECONDS
_WAY_SECONDS: Final = 20.0  # how long the sandbox holds back for a run of the class

Start = Callable[[Prepared], Path]


def prepare_sandbox(config: TrainConfig) -> Prepared:
    """Return what is known of a run that a student may start without asking.

    Raises:
        ValueError: If the model or its batch is too large, or the text is not one of the app's.
    """
    if config.corpus == "upload":
        raise ValueError(_("A run of your own learns from a text of this app, not from a file."))
    prepared = prepare(config)
    if prepared.parameters.amount > MAX_PARAMETERS:
        raise ValueError(
            _("A run of your own may have {limit} parameters; this one has {count}.").format(
                limit=format_count(MAX_PARAMETERS), count=format_count(prepared.parameters.amount)
            )
        )
    if config.tokens_per_step > MAX_BATCH_TOKENS:
        raise ValueError(
            _("A run of your own may take {limit} tokens a step; this one takes {count}.").format(
                limit=f"{MAX_BATCH_TOKENS:,}", count=f"{config.tokens_per_step:,}"
            )
        )
    return prepared


def capped(config: TrainConfig, seconds_per_step: float) -> TrainConfig:
    """Return the config with the steps and the time that a student's run may take, ungoverned."""
    seconds = min(config.max_seconds or MAX_SECONDS, MAX_SECONDS)
    free = replace(config, max_steps_per_second=None, max_seconds=seconds)
    fitting = fit_steps(free, MAX_SECONDS, seconds_per_step)
    most = min(fitting.num_steps, MAX_STEPS)
    return free if free.num_steps <= most else replace(fitting, num_steps=most)


def caps_sentence() -> str:
    """Return what a student's run may take."""
    return _(
        "A run of your own: at most {parameters} parameters, {steps} steps and {seconds}. One at a "
        "time trains on this server, and the class's run goes first."
    ).format(
        parameters=format_count(MAX_PARAMETERS),
        steps=f"{MAX_STEPS:,}",
        seconds=format_seconds(MAX_SECONDS),
    )


def start_sandbox_run(prepared: Prepared) -> Path:
    """Make a student's run, prepared however long ago; return the run directory.

    Raises:
        DeviceBusyError: If another run trains on the device, or waits for it.
        ValueError: If the run does not fit into what memory is free by now.
        TimingError: If the device cannot be timed.
        RunStorageError: If the directory cannot be written to.
    """
    now = predict_run(prepared.config, prepared.dataset)
    gpu = now.config.gpu
    refuse_if_busy(device_in_use()[0], gpu)  # before timing, which would disturb the class's run
    timing = timing_for(now)
    short = replace(now, config=capped(now.config, timing.seconds_per_step))
    begin = partial(create_run, short, timing, runs_directory(), sandbox=True)
    return launch(begin, timing.device, gpu)


def sweep_sandbox(runs_dir: Path | None = None, num_kept: int = NUM_KEPT) -> None:
    """Keep the newest `num_kept` of the students' runs, the pinned and the unfinished ones."""
    runs = [run for run in list_runs(runs_dir or runs_directory()) if run.info.get("sandbox")]
    for run in runs[num_kept:]:
        if run.state in FINAL_STATES and not run.pinned:
            with suppress(ValueError, OSError):  # somebody else was quicker, or pinned it meanwhile
                delete(run.directory)


@dataclass(eq=False, kw_only=True, slots=True)
class Ticket:
    """One student's wish. Fields change from waiting to a run, or to a refusal.

    Attributes:
        owner: Whose it is, a name that the caller knows; empty for nobody in particular.
        address: For which it is counted; empty for none.
        seen: When the owner was last here, on the line's clock.
        stopped: Whether the class stopped the run.
    """

    prepared: Prepared
    owner: str = ""
    address: str = ""
    seen: float = 0.0
    run: str = ""
    error: str = ""
    stopped: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Owners:
    """What the line asks and tells of those who stand in it, by name; `on_start` from its thread.

    A wish waits `patience` seconds for an owner who has gone.
    """

    is_here: Callable[[str], bool] = lambda _owner: True
    on_start: Callable[[Ticket], object] = lambda _ticket: None
    patience: float = WISH_SECONDS
    clock: Callable[[], float] = time.monotonic


class SandboxQueue:
    """Starts one student's run after the other, in a thread that ends when nobody waits.

    Who is away keeps the place for a while, but has no run started; then the wish expires.
    """

    def __init__(self, start: Start = start_sandbox_run, owners: Owners | None = None) -> None:
        """Make an empty line; `start` starts a run and returns its directory."""
        self._start_run = start
        self._owners = owners or Owners()
        self._lock = threading.Lock()
        self._starting = threading.Lock()  # held while a run is being started, which takes seconds
        self._waiting: list[Ticket] = []
        self._newest: dict[str, Ticket] = {}
        self._running: Path | None = None
        self._deadline = 0.0
        self._hold_until = 0.0
        self._thread: threading.Thread | None = None

    def enter(self, config: TrainConfig, owner: str = "", address: str = "") -> Ticket:
        """Stand at the end of the line, and give up the owner's earlier wish if one waits there.

        Raises:
            ValueError: If the line is full, or holds as many wishes of that address as it may, or
                the config is not one for the sandbox.
        """
        prepared = prepare_sandbox(config)
        with self._lock:
            others = [each for each in self._waiting if not owner or each.owner != owner]
            if len(others) >= MAX_WAITING:
                message = _("{count} runs are waiting, the most that this server lines up.")
                raise ValueError(message.format(count=MAX_WAITING))
            if address and [each.address for each in others].count(address) >= MAX_OF_ADDRESS:
                message = _("{count} runs from your address are waiting, the most for one address.")
                raise ValueError(message.format(count=MAX_OF_ADDRESS))
            ticket = Ticket(
                prepared=prepared, owner=owner, address=address, seen=self._owners.clock()
            )
            self._waiting = [*others, ticket]
            self._remember(ticket)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="sandbox", daemon=True)
                self._thread.start()
            return ticket

    def newest_of(self, owner: str) -> Ticket | None:
        """Return the owner's newest wish, whatever has become of it; None after `leave`."""
        return self._newest.get(owner)

    def leave(self, ticket: Ticket) -> None:
        """Give up the wish; a run that has started goes on."""
        with self._lock:
            self._take_out(ticket)
            self._forget(ticket)

    def place(self, ticket: Ticket) -> int:
        """Return how many are in front, the running one included, plus one; 0 if not waiting."""
        with self._lock:
            if ticket not in self._waiting:
                return 0
            return self._waiting.index(ticket) + 1 + (self._running is not None)

    def trains(self, ticket: Ticket) -> bool:
        """Say whether the ticket's run is the one that trains now."""
        return self._running is not None and self._running.name == ticket.run

    def make_way(self, seconds: float = _WAY_SECONDS) -> None:
        """Stop the student's run that trains now and start none for a while: the class begins."""
        with self._lock:
            self._hold_until = time.monotonic() + seconds
        with self._starting:
            running = self._running
        if running is None or read_state(running).is_final:
            return
        self.note_stop(running.name)
        _stop(running)
        until = time.monotonic() + seconds
        while not read_state(running).is_final and time.monotonic() < until:
            time.sleep(0.05)

    def note_stop(self, run: str) -> None:
        """Note that the class has stopped a student's run, so that its owner can be told."""
        with self._lock:
            for ticket in self._newest.values():
                if ticket.run == run:
                    ticket.stopped = True

    def _work(self) -> None:
        while self._turn():
            time.sleep(_LOOK_SECONDS)

    def _turn(self) -> bool:
        """Look once; return whether there is anything left to do."""
        with self._lock:
            present = self._look_for_owners()
            if not self._waiting and self._running is None:
                self._thread = None
                return False
        if self._running is not None:
            self._watch(self._running)
        elif present:
            with self._starting:
                if time.monotonic() >= self._hold_until:
                    self._serve(present[0])
        return True

    def _look_for_owners(self) -> list[Ticket]:
        """Drop the wishes of those who have gone; return those of the owners who are here."""
        now = self._owners.clock()
        present = [each for each in self._waiting if self._owners.is_here(each.owner)]
        for ticket in present:
            ticket.seen = now
        for ticket in tuple(self._waiting):
            if now - ticket.seen >= self._owners.patience:
                self._take_out(ticket)
                self._forget(ticket)
        return present

    def _serve(self, ticket: Ticket) -> None:
        try:
            directory = self._start_run(ticket.prepared)
        except DeviceBusyError:
            return  # a run of the class trains: look again
        except (ValueError, OSError, RuntimeError) as error:
            ticket.error = sentence_of(error)
        else:
            self._running, ticket.run = directory, directory.name
            self._deadline = time.monotonic() + MAX_SECONDS + _GRACE
            self._owners.on_start(ticket)
        with self._lock:
            self._take_out(ticket)

    def _take_out(self, ticket: Ticket) -> None:
        if ticket in self._waiting:
            self._waiting.remove(ticket)

    def _remember(self, ticket: Ticket) -> None:
        if not ticket.owner:
            return
        self._newest.pop(ticket.owner, None)  # the newest is last
        self._newest[ticket.owner] = ticket
        if len(self._newest) > _NUM_REMEMBERED:
            del self._newest[next(iter(self._newest))]

    def _forget(self, ticket: Ticket) -> None:
        if self._newest.get(ticket.owner) is ticket:
            del self._newest[ticket.owner]

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
