"""A worker's life: steps while it runs, commands as they arrive, a checkpoint at the end."""

import time
from collections.abc import Callable
from typing import Final

from core.language import N_
from core.train.control import Command, Inbox
from core.train.observer import Observer

STATE_SECONDS: Final = 0.5  # how often state.json follows the run
IDLE_SECONDS: Final = 0.02  # between two looks into the inbox while nothing is due

NON_FINITE_PAUSE: Final = N_(
    "The loss or a gradient is no longer a finite number. The weights were left as they were; "
    "lower the learning rate and resume, or stop."
)
NOT_SAVED: Final = N_("A checkpoint could not be written; the run goes on without it.")


class Session:
    """Drives a trainer until its last step, a stop command or a signal.

    Args:
        observer: The trainer, and where it is written down.
        inbox: Where commands arrive.
        max_steps_per_second: The governor to begin with; None for full speed.
    """

    def __init__(
        self, observer: Observer, inbox: Inbox, max_steps_per_second: float | None = None
    ) -> None:
        self.observer, self.inbox = observer, inbox
        self.trainer, self.store = observer.trainer, observer.store
        self.max_steps_per_second = max_steps_per_second
        self.state = "starting"
        self.stop_requested = False
        self._reason = self._message = ""
        self._single_steps = 0
        self._next_step_at = self._state_at = 0.0
        self._operations: dict[str, Callable[[Command], None]] = {
            "pause": lambda _command: self._change("paused"),
            "resume": lambda _command: self._change("running"),
            "step": self._one_step,
            "stop": self._stop,
            "set_learning_rate_multiplier": self._set_multiplier,
            "set_max_steps_per_second": self._set_governor,
        }

    def run(self) -> str:
        """Train; return the state that the run ends in: "finished" or "stopped"."""
        num_steps = self.trainer.config.num_steps
        self._change("running")
        if self.trainer.step == 0:
            self.observer.at_the_start()
        while self.trainer.step < num_steps and not self.stop_requested:
            self._obey()
            if self._may_step():
                self._step()
        self._change("stopping")
        self._save()
        self._change("finished" if self.trainer.step >= num_steps else "stopped")
        return self.state

    def _obey(self) -> None:
        for command in self.inbox.poll():
            # a new setting first counts for the step that comes
            effective = self.trainer.step + (1 if command.op.startswith("set_") else 0)
            if not command.error:
                self._operations[command.op](command)
            self.store.append_event(
                "ack",
                effective,
                command=command.number,
                op=command.op,
                value=command.value,
                accepted=not command.error,
                reason=command.error,
            )
            self._write_state()

    def _may_step(self) -> bool:
        """Whether the next step is due; waits a little when it is not."""
        if self.stop_requested:
            return False
        if self.state == "paused":
            if self._single_steps:
                self._single_steps -= 1
                return True
            time.sleep(IDLE_SECONDS)
            return False
        wait = self._next_step_at - time.monotonic()
        if self.max_steps_per_second and wait > 0:
            time.sleep(min(wait, IDLE_SECONDS))
            return wait <= IDLE_SECONDS
        return True

    def _step(self) -> None:
        began = time.monotonic()
        result = self.observer.step()
        if result.skipped:
            self.observer.non_finite(result)
            # the class should see it happen, so the run waits
            self._change("paused", "non_finite", NON_FINITE_PAUSE)
        saved_before = self.observer.num_failed_saves
        self.observer.after_step(result.step)
        if self.observer.num_failed_saves > saved_before:
            self._change(self.state, "disk", NOT_SAVED)
        if time.monotonic() - self._state_at > STATE_SECONDS:
            self._write_state()
        if self.max_steps_per_second:
            self._next_step_at = began + 1 / self.max_steps_per_second

    def _save(self) -> None:
        if not self.observer.save():
            self._reason, self._message = "disk", NOT_SAVED

    def _one_step(self, _command: Command) -> None:
        if self.state == "running":
            self._change("paused")
        self._single_steps += 1

    def _stop(self, _command: Command) -> None:
        self.stop_requested = True

    def _set_multiplier(self, command: Command) -> None:
        self.trainer.learning_rate_multiplier = 1.0 if command.value is None else command.value

    def _set_governor(self, command: Command) -> None:
        self.max_steps_per_second = command.value

    def _change(self, state: str, reason: str = "", message: str = "") -> None:
        """Take on a state; a reason once given stays until the run goes on."""
        changed = state != self.state
        self.state = state
        if reason or state in ("running", "paused"):
            self._reason, self._message = reason, message
        if changed:
            self.store.append_event(
                "state", self.trainer.step, state=state, reason=reason, message=message
            )
        self._write_state()

    def _write_state(self) -> None:
        self._state_at = time.monotonic()
        self.store.write_state(
            self.state,
            step=self.trainer.step,
            learning_rate_multiplier=self.trainer.learning_rate_multiplier,
            max_steps_per_second=self.max_steps_per_second,
            reason=self._reason,
            message=self._message,
        )
