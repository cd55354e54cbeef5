"""A worker that waits for its device: it stands in the queue, and still listens to a stop."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Final

from core.language import N_
from core.train.control.commands import Command, Inbox, StopSignal
from core.train.control.device import DeviceBusyError, TrainingDevice, hold_first, stand_in_queue
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
    kind: str, run: str, asked_at: float, give_up: Callable[[], bool], gpu: str = ""
) -> Iterator[TrainingDevice]:
    """Wait for the device, first come first served; hold it while the block runs, and give it.

    `give_up` is asked again and again while waiting; then a QueueLeftError.
    """
    with ExitStack() as held:
        with stand_in_queue(kind, run, asked_at, gpu) as its_turn:
            while (device := _take(its_turn(), run, held)) is None:
                if give_up():
                    raise QueueLeftError(run)
                time.sleep(LOOK_SECONDS)
        yield device


def _take(devices: Sequence[TrainingDevice], run: str, held: ExitStack) -> TrainingDevice | None:
    with suppress(DeviceBusyError):
        return held.enter_context(hold_first(devices, run)) if devices else None
    return None


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
