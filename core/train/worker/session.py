"""A worker's life: steps while it runs, commands as they arrive, a checkpoint at the end."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import torch

from core.language import N_
from core.train.config import TrainConfig
from core.train.control.commands import Command, Inbox, StopSignal
from core.train.control.orders import Orders, acknowledge, standing_orders
from core.train.learning.sampler import Sampler
from core.train.learning.trainer import StepResult, Trainer
from core.train.run.directory import SNAPSHOT_FILE, checkpoints, forget_milestones
from core.train.run.state import NON_FINITE_PAUSE, NOT_SAVED, TIME_IS_UP
from core.train.run.store import RunStore
from core.train.text.dataset import load_dataset
from core.train.worker.checkpoint import load_checkpoint
from core.train.worker.inheritance import begin_as_fork
from core.train.worker.memory_snapshot import recorded
from core.train.worker.observer import Observer

if TYPE_CHECKING:  # a run of one process does without torch.distributed
    from core.train.worker.company import Company

STATE_SECONDS: Final = 0.5  # how often state.json follows the run
GO_BACK_FACTOR: Final = 0.5  # of the learning rate, after a number that was not finite
IDLE_SECONDS: Final = 0.02  # between two looks into the inbox while nothing is due


class Session:
    """Drives a trainer until its last step, its time limit, a stop command or a signal."""

    def __init__(self, observer: Observer, inbox: Inbox, orders: Orders, stop: StopSignal) -> None:
        self.observer, self.inbox, self._stop = observer, inbox, stop
        self.trainer, self.store = observer.trainer, observer.store
        self.max_steps_per_second = orders.max_steps_per_second
        self.state = "starting"
        self._stop_wanted = False
        self._last_command = orders.last_command
        # Only changes for steps that this worker repeats; the checkpoint holds the earlier ones.
        self._changes = [c for c in orders.multiplier_changes if c[0] > self.trainer.step]
        self._repeated: list[tuple[tuple[int, float], float]] = []  # a change, and what was before
        self._reason = self._message = ""
        self._values: Mapping[str, float | None] = {}
        self._single_steps = 0
        self._next_step_at = self._state_at = 0.0
        self._operations: dict[str, Callable[[Command], str | None]] = {  # why not, if not
            "pause": lambda _command: self._change("paused"),
            "resume": self._resume,
            "step": self._one_step,
            "stop": self._stop_after_step,
            "go_back": self._go_back,
            "snapshot": self._snapshot,
            "set_learning_rate_multiplier": self._set_multiplier,
            "set_max_steps_per_second": self._set_governor,
        }

    @property
    def stop_requested(self) -> bool:
        """Whether a command or a signal asks the run to end."""
        return self._stop_wanted or self._stop.requested

    def run(self) -> str:
        """Train; return the state that the run ends in: "finished" or "stopped"."""
        self._change("running")
        if self.trainer.step == 0:
            with self._training():
                self.observer.at_the_start()
        while not self._is_over():
            self.advance()
        if self._time_is_up() and not self.stop_requested:
            self.observer.at_the_end()
        self._change("stopping")
        self._save()
        self._end()
        return self.state

    def advance(self) -> None:
        """Follow the commands that came; then do a step, if one is due."""
        self._obey()
        if self._may_step():
            with self._training():
                self._step()

    def _end(self) -> None:
        if not self._is_complete():
            self._change("stopped")
        elif self._reason or self.trainer.step >= self.trainer.config.num_steps:
            self._change("finished")
        else:
            config, step = self.trainer.config, self.trainer.step
            values = {"seconds": config.max_seconds, "step": step, "num_steps": config.num_steps}
            self._change("finished", "time_is_up", TIME_IS_UP, values)

    def _is_over(self) -> bool:
        if self.stop_requested or self._is_complete():
            self._read()  # it may find that the run halted at an earlier step
            return self.stop_requested or self._is_complete()
        return False

    def _is_complete(self) -> bool:
        return self.trainer.step >= self.trainer.config.num_steps or self._time_is_up()

    def _time_is_up(self) -> bool:
        limit = self.trainer.config.max_seconds
        return limit is not None and self.trainer.trained_seconds >= limit

    @contextmanager
    def _training(self) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.trainer.trained_seconds += time.monotonic() - began

    def _obey(self) -> None:
        commands = self.inbox.poll()
        if commands:
            self._read()
        for command in commands:
            error = command.error or self._operations[command.op](command)
            acknowledge(self.store, replace(command, error=error or ""), self.trainer.step)
            self._last_command = command.number
        if commands:
            self._write_state()

    def _may_step(self) -> bool:
        """Whether the next step is due; waits a little when it is not."""
        if self.stop_requested:
            return False
        if self.state == "paused":
            if self._single_steps:
                self._single_steps -= 1
                return True
            self._read()
            time.sleep(IDLE_SECONDS)
            return False
        wait = self._next_step_at - time.monotonic()
        if self.max_steps_per_second and wait > 0:
            self._read()
            time.sleep(min(wait, IDLE_SECONDS))
            return wait <= IDLE_SECONDS
        return True

    def _step(self) -> None:
        began = time.monotonic()
        self._repeat_changes()
        self._look_at(self.observer.step())
        step, saved_before = self.trainer.step, self.observer.num_failed_saves
        if self.observer.is_due(step):
            self._read()  # it may find that the run halted at an earlier step
            if self.trainer.step == step:
                self.observer.after_step(step, self._orders())
        if self.observer.num_failed_saves > saved_before:
            self._change(self.state, "disk", NOT_SAVED)
        # Behind a single step comes nothing that would tell of it later.
        if self.state == "paused" or time.monotonic() - self._state_at > STATE_SECONDS:
            self._write_state()
        if self.max_steps_per_second:
            self._next_step_at = began + 1 / self.max_steps_per_second

    def _read(self) -> None:
        """Wait for the steps that an accelerator still works on."""
        self._look_at(self.observer.read())

    def _look_at(self, results: tuple[StepResult, ...]) -> None:
        for result in results:
            if result.skipped:
                self._take_back_changes(result.step)
                self.observer.non_finite(result)
                # the class should see it happen, so the run waits
                self._change("paused", "non_finite", NON_FINITE_PAUSE)

    def _repeat_changes(self) -> None:
        while self._changes and self._changes[0][0] <= self.trainer.step + 1:
            change = self._changes.pop(0)
            self._repeated.append((change, self.trainer.learning_rate_multiplier))
            self.trainer.learning_rate_multiplier = change[1]

    def _take_back_changes(self, step: int) -> None:
        """Undo what was changed for the steps behind `step`: a burst had launched them in vain."""
        while self._repeated and self._repeated[-1][0][0] > step:
            change, before = self._repeated.pop()
            self._changes.insert(0, change)
            self.trainer.learning_rate_multiplier = before

    def _orders(self) -> Orders:
        return Orders(
            last_command=self._last_command,
            multiplier_changes=tuple(self._changes),
            max_steps_per_second=self.max_steps_per_second,
        )

    def _save(self) -> None:
        if not self.observer.save(self._orders()):
            self._reason, self._message = "disk", NOT_SAVED

    def _resume(self, _command: Command) -> None:
        # Whoever resumes a run takes back a stop that no worker has followed yet.
        self._stop_wanted = False
        self._change("running")

    def _one_step(self, _command: Command) -> None:
        if self.state == "running":
            self._change("paused")
        self._single_steps += 1

    def _stop_after_step(self, _command: Command) -> None:
        self._stop_wanted = True

    def _set_multiplier(self, command: Command) -> None:
        self._changes.clear()  # somebody decides anew: what was decided before is not repeated
        self._repeated.clear()
        self.trainer.learning_rate_multiplier = 1.0 if command.value is None else command.value

    def _go_back(self, command: Command) -> None:
        """Go on from the newest checkpoint with half the learning rate, as a new attempt."""
        multiplier = self.trainer.learning_rate_multiplier * GO_BACK_FACTOR
        alone = self.trainer.alone()  # of several ranks, one that has the whole model
        load_newest(self.store, alone)
        self.trainer.take(alone)
        self.trainer.optimizer.zero_grad(set_to_none=True)  # theirs are of the step that failed
        self.store.attempt += 1  # what is done again replaces what was written down of it
        self.observer.went_back()
        forget_milestones(self.store.directory, after=self.trainer.step)
        change = replace(command, op="set_learning_rate_multiplier", value=multiplier)
        self._set_multiplier(change)
        acknowledge(self.store, change, self.trainer.step)  # a resume repeats it, readers show it
        self._change("running")

    def _snapshot(self, _command: Command) -> str:
        """Do the next step and write down what the allocator did in it; return why not, if so."""
        if not torch.cuda.is_initialized():
            return N_("Only a run on a CUDA GPU has a memory snapshot.")
        if self._stop_wanted or self._is_complete():
            return N_("The run has no next step.")
        try:
            with recorded(self.store.directory / SNAPSHOT_FILE), self._training():
                self._step()
                self._read()
        except OSError as error:
            return str(error)
        return ""

    def _set_governor(self, command: Command) -> None:
        self.max_steps_per_second = command.value

    def _change(
        self,
        state: str,
        reason: str = "",
        message: str = "",
        values: Mapping[str, float | None] | None = None,
    ) -> None:
        """Take on a state; a reason once given stays until the run goes on."""
        changed = state != self.state
        self.state = state
        if reason or state in ("running", "paused"):
            self._reason, self._message, self._values = reason, message, values or {}
        if changed:
            self.store.append_event(
                "state", self.trainer.step, state=state, reason=reason, message=message
            )
        self._write_state()

    def _write_state(self) -> None:
        self._read()
        self._state_at = time.monotonic()
        self.store.write_state(
            self.state,
            step=self.trainer.step,
            learning_rate_multiplier=self.trainer.learning_rate_multiplier,
            max_steps_per_second=self.max_steps_per_second,
            reason=self._reason,
            message=self._message,
            values=self._values,
            trained_seconds=self.trainer.trained_seconds,
            resident_bytes=self.observer.resident_bytes(),
        )


def load_newest(store: RunStore, trainer: Trainer) -> Orders:
    """Put the newest readable checkpoint into a trainer, or else what the run began with."""
    for path in reversed(checkpoints(store.directory)):
        try:
            return load_checkpoint(path, trainer)
        except ValueError as error:
            told = {"tensor": path.name, "message": str(error)}
            store.append_event("finding", 0, finding="damaged_checkpoint", **told)
            trainer.start_again()  # it may be half changed
    if trainer.trained_seconds:
        trainer.start_again()
    begin_as_fork(store.directory, trainer)
    return Orders(max_steps_per_second=trainer.config.max_steps_per_second)


def open_session(
    config: TrainConfig,
    store: RunStore,
    device: torch.device,
    stop: StopSignal | None = None,
    company: "Company | None" = None,
) -> Session:
    """Return the session of a run of a resolved precision, at its newest readable checkpoint.

    `company`: the other processes of the run, if it has several.
    """
    directory = store.directory
    dataset = load_dataset(directory / "data")
    kind = company.trainer_kind if company else Trainer
    trainer = kind.of(config, dataset, device)
    saved = load_newest(store, trainer)
    if company:
        company.begin(trainer, dataset, directory.name)
    forget_milestones(directory, after=trainer.step)
    text, prompt = dataset.text, dataset.prompt
    sampler = Sampler(text, dataset.tokenizer, prompt, config.seed, config.precision)
    orders = standing_orders(directory, saved)
    observer = Observer(trainer, store, sampler)
    return Session(observer, Inbox(directory, orders.last_command), orders, stop or StopSignal())
