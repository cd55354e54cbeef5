"""A worker's hour: steps, evaluations, samples, checkpoints, and the commands that arrive."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import psutil

from core.language import N_
from core.train.checkpoint import save_checkpoint
from core.train.control import Command, Inbox
from core.train.disk import RunStorageError
from core.train.memory_watch import MemoryWatch
from core.train.records import NON_FINITE, SKIPPED, StepRecord
from core.train.sampler import Sampler
from core.train.store import RunStore
from core.train.trainer import StepResult, Trainer

STATE_SECONDS: Final = 0.5  # how often state.json follows the run
RESIDENT_SECONDS: Final = 1.0
IDLE_SECONDS: Final = 0.02  # between two looks into the inbox while paused

NON_FINITE_PAUSE: Final = N_(
    "The loss or a gradient is no longer a finite number. The weights were left as they were; "
    "lower the learning rate and resume, or stop."
)
CHECKPOINT_FAILED: Final = N_("A checkpoint could not be written; the run goes on without it.")


class Session:
    """Drives a trainer until its last step, a stop command or a signal.

    Args:
        trainer: The model and its text.
        store: Where records and events go.
        directory: The run directory; its inbox is read.
        sampler: Writes the samples.
    """

    def __init__(
        self, trainer: Trainer, store: RunStore, directory: Path, sampler: Sampler
    ) -> None:
        self.trainer, self.store, self.sampler = trainer, store, sampler
        self.config = trainer.config
        self.directory = directory
        self.inbox = Inbox(directory)
        self.state = "running"
        self.reason = self.message = ""
        self.max_steps_per_second = self.config.max_steps_per_second
        self.stop_requested = False
        self._single_steps = 0
        self._saved_step = -1
        self._next_step_at = 0.0
        self._process = psutil.Process()
        self._resident, self._resident_at = 0, 0.0
        self._state_at = 0.0
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
        self._change("running")
        if self.trainer.step == 0:
            self._evaluate()
            self._sample()
        while self.trainer.step < self.config.num_steps and not self.stop_requested:
            self._obey()
            if self._may_step():
                self._step()
        self._change("stopping")
        self._finish()
        finished = self.trainer.step >= self.config.num_steps
        self._change("finished" if finished else "stopped")
        return self.state

    def _obey(self) -> None:
        for command in self.inbox.poll():
            accepted = not command.error
            if accepted:
                self._operations[command.op](command)
            self.store.append_event(
                "ack",
                self.trainer.step,
                command=command.number,
                op=command.op,
                value=command.value,
                accepted=accepted,
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
        due = (self.trainer.step + 1) % self.config.memory_interval == 0 or self.trainer.step == 0
        watch = self._memory_watch() if due else None
        result = self.trainer.train_step(watch)
        self._record(result)
        if watch is not None:
            memory = watch.result.to_json()
            self.store.append_event(
                "memory", result.step, **memory, resident_bytes=self._resident_bytes(fresh=True)
            )
        if result.skipped:
            self._guard(result)
        self._after_step(result.step)
        if self.max_steps_per_second:
            self._next_step_at = began + 1 / self.max_steps_per_second

    def _memory_watch(self) -> MemoryWatch:
        trainer = self.trainer
        return MemoryWatch(trainer.model, trainer.optimizer, (trainer.training, trainer.validation))

    def _record(self, result: StepResult) -> None:
        self.store.append_step(
            StepRecord(
                step=result.step,
                time=time.time(),
                seconds=result.seconds,
                loss=result.loss,
                learning_rate=result.learning_rate,
                grad_norm=result.grad_norm,
                tokens_per_second=self.config.tokens_per_step / result.seconds,
                resident_bytes=self._resident_bytes(),
                flags=NON_FINITE | SKIPPED if result.skipped else 0,
            )
        )

    def _guard(self, result: StepResult) -> None:
        """Pause at the first number that is not finite, so that the class can look."""
        self.store.append_event(
            "finding", result.step, finding="non_finite", tensor=result.tensor, loss=result.loss
        )
        self._change("paused", reason="non_finite", message=NON_FINITE_PAUSE)

    def _after_step(self, step: int) -> None:
        last = step == self.config.num_steps
        if step % self.config.eval_interval == 0 or last:
            self._evaluate()
        if step % self.config.sample_interval == 0 or last:
            self._sample()
        if step % self.config.checkpoint_interval == 0 and not last:
            self._checkpoint()
        if time.monotonic() - self._state_at > STATE_SECONDS:
            self._write_state()

    def _evaluate(self) -> None:
        loss = self.trainer.validation_loss()
        self.store.append_event("eval", self.trainer.step, validation_loss=loss)

    def _sample(self) -> None:
        sample = self.sampler.sample(self.trainer.model, self.config.sample_length)
        self.store.append_event(
            "sample",
            self.trainer.step,
            prompt=sample.prompt,
            text=sample.text,
            num_words=sample.num_words,
            num_real_words=sample.num_real_words,
        )

    def _checkpoint(self) -> None:
        """Save; a disk that refuses costs this checkpoint, not the run."""
        try:
            self.store.sync()
            path, num_bytes = save_checkpoint(self.directory, self.trainer)
        except RunStorageError:
            self.store.append_event(
                "finding", self.trainer.step, finding="checkpoint_failed", tensor=""
            )
            self.reason, self.message = "disk", CHECKPOINT_FAILED
            return
        self._saved_step = self.trainer.step
        self.store.append_event(
            "checkpoint", self.trainer.step, file=path.name, num_bytes=num_bytes
        )

    def _finish(self) -> None:
        if self._saved_step != self.trainer.step:
            self._checkpoint()

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
        changed = state != self.state or self._state_at == 0.0
        self.state = state
        self.reason, self.message = reason, message
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
            reason=self.reason,
            message=self.message,
        )

    def _resident_bytes(self, *, fresh: bool = False) -> int:
        now = time.monotonic()
        if fresh or now - self._resident_at > RESIDENT_SECONDS:
            self._resident, self._resident_at = self._process.memory_info().rss, now
        return self._resident
