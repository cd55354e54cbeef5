"""A worker that waits for its device: it stands in the queue, and still listens to a stop."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from core.language import N_
from core.train.control.commands import Command, Inbox, StopSignal
from core.train.control.device import DeviceBusyError, hold_device, stand_in_queue
from core.train.control.orders import acknowledge
from core.train.run.store import RunStore

LOOK_SECONDS: Final = 0.1

QUEUED: Final = N_(
    "Waiting for the device: another run is training on it. Its turn comes by itself."
)


class QueueLeftError(Exception):
    """The run was stopped before its turn came."""


@contextmanager
def device_in_turn(
    device: str, run: str, asked_at: float, give_up: Callable[[], bool]
) -> Iterator[None]:
    """Wait for the device, first come first served, and hold it while the block runs.

    Args:
        device: "cpu", "cuda" or "mps".
        run: Name of the run directory.
        asked_at: Unix time at which the start was asked for, in seconds.
        give_up: Asked again and again while waiting.

    Raises:
        QueueLeftError: `give_up` said yes.
    """
    with ExitStack() as held:
        with stand_in_queue(device, run, asked_at) as is_first:
            while not (is_first() and _take(device, run, held)):
                if give_up():
                    raise QueueLeftError(run)
                time.sleep(LOOK_SECONDS)
        yield


def _take(device: str, run: str, held: ExitStack) -> bool:
    try:
        held.enter_context(hold_device(device, run, patience=0.0, in_turn=True))
    except DeviceBusyError:
        return False
    return True


class QueuedListener:
    """Hears a stop while the run waits; what else is asked for waits until it trains."""

    def __init__(self, store: RunStore, step: int, stop: StopSignal) -> None:
        """Listen for the run of `store`, whose last completed step is `step`."""
        self._store, self._step, self._stop = store, step, stop
        self._inbox = Inbox(store.directory)
        self._heard: list[Command] = []
        self._stop_wanted = False

    def gives_up(self) -> bool:
        """Whether the newest word is stop; then every command so far is acknowledged."""
        for command in self._inbox.poll():
            self._heard.append(command)
            if command.op in ("stop", "resume"):
                self._stop_wanted = command.op == "stop"
        if self._stop_wanted:
            for command in self._heard:
                acknowledge(self._store, command, self._step)
            self._heard.clear()
        return self._stop_wanted or self._stop.requested
