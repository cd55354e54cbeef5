"""What is written down of a run: a record each step; evaluations, samples, memory, checkpoints."""

import errno
import math
import time
from typing import Final

import psutil

from core.train.control.orders import Orders
from core.train.learning.memory_watch import MemoryWatch, watch_gpu
from core.train.learning.sampler import Sampler
from core.train.learning.schedule import milestone_steps
from core.train.learning.trainer import LaunchedStep, StepResult, Trainer
from core.train.run.directory import milestones
from core.train.run.disk import RunStorageError
from core.train.run.records import NON_FINITE, SKIPPED, StepRecord
from core.train.run.store import RunStore
from core.train.worker import faults
from core.train.worker.checkpoint import save_checkpoint, save_milestone

BURST_STEPS: Final = 32  # steps whose numbers an accelerator may owe us
BURST_SECONDS: Final = 0.05
MILESTONE_PARAMETERS: Final = 2_000_000  # of larger models only the checkpoints are kept
RESIDENT_SECONDS: Final = 1.0  # asking the system for the process's memory costs more than a record


class Observer:
    """Watches a trainer and writes to its run."""

    def __init__(self, trainer: Trainer, store: RunStore, sampler: Sampler) -> None:
        self.trainer, self.store, self.sampler = trainer, store, sampler
        self.saved_step = self._bad_step = -1
        self.num_failed_saves = 0
        self._evaluated: tuple[int, float] = (-1, 0.0)  # step and validation loss
        self._sampled_step = -1
        small = sum(w.numel() for w in trainer.model.parameters()) <= MILESTONE_PARAMETERS
        self._milestones = milestone_steps(trainer.config.num_steps) if small else ()
        self._launched: list[LaunchedStep] = []
        self._burst_began = 0.0
        self._process = psutil.Process()
        self._resident, self._resident_at = 0, 0.0

    def step(self) -> tuple[StepResult, ...]:
        """Do one step, with the memory watch when it is due; return what has been recorded.

        On a CPU that is this step. An accelerator is asked for the numbers of many steps at once,
        so that none of them waits for it; until then their records do not exist.
        """
        trainer, upcoming, watch = self.trainer, self.trainer.step + 1, None
        owed: tuple[StepResult, ...] = ()
        is_due = upcoming == 1 or upcoming % trainer.config.memory_interval == 0
        if is_due and not trainer.tells_next:
            owed = self.read()  # what is watched is this step alone
            if trainer.step != upcoming - 1:
                return owed  # an earlier one was not finite
            held = (trainer.training, trainer.validation)
            watch = MemoryWatch(trainer.model, trainer.optimizer, held)
        if not self._launched:
            self._burst_began = time.perf_counter()
        self._launched.append(trainer.launch_step(watch))
        waited = time.perf_counter() - self._burst_began
        full = len(self._launched) >= BURST_STEPS or waited >= BURST_SECONDS
        if trainer.in_bursts and watch is None and not full:
            return ()
        results = (*owed, *self.read())
        for row in trainer.rows:
            self.store.append_event("rank", upcoming, **row)
        trainer.rows.clear()
        if watch is not None:
            memory, resident = watch.result.to_json(), self.resident_bytes(fresh=True)
            told = {**memory, "resident_bytes": resident, **watch_gpu(trainer.device)}
            self.store.append_event("memory", upcoming, **told)
        return results

    def read(self) -> tuple[StepResult, ...]:
        """Record the steps whose numbers are still owed, in order; return them."""
        if not self._launched:
            return ()
        results = self.trainer.read_steps(self._launched)
        self._launched.clear()
        now = self.store.clock.now()  # when the last of them was done
        for behind, result in zip(reversed(range(len(results))), results, strict=True):
            self._record(result, now - behind * result.seconds)
        return results

    def at_the_start(self) -> None:
        """Write down what an untrained model does."""
        self.evaluate()
        self.sample()
        self._look_back()

    def at_the_end(self) -> None:
        """Evaluate and sample the last step, if that was not done: a time limit ends any step."""
        if self._evaluated[0] != self.trainer.step:
            self.evaluate()
        if self._sampled_step != self.trainer.step:
            self.sample()

    def is_due(self, step: int) -> bool:
        """Say whether `after_step` has anything to do; the last step always has."""
        config = self.trainer.config
        intervals = (config.eval_interval, config.sample_interval, config.checkpoint_interval)
        always = step == config.num_steps or step in self._milestones
        return always or any(step % every == 0 for every in intervals)

    def after_step(self, step: int, orders: Orders) -> None:
        """Do what is due after a step; the last step is always evaluated and sampled."""
        config = self.trainer.config
        last = step == config.num_steps
        if step % config.eval_interval == 0 or last:
            self.evaluate()
        if step % config.sample_interval == 0 or last:
            self.sample()
        if step % config.checkpoint_interval == 0 and not last:
            # which checkpoint is best must be known
            if step not in (self._evaluated[0], self.saved_step):
                self._evaluated = (step, self.trainer.validation_loss())
            self.save(orders)
        self._look_back()

    def _look_back(self) -> None:
        """Keep the weights of a milestone; a disk that refuses costs this one, not the run."""
        if self.trainer.step not in self._milestones:
            return
        try:
            save_milestone(self.store.directory, self.trainer)
        except RunStorageError as error:
            self._not_saved(error)

    def _not_saved(self, error: RunStorageError) -> None:
        self.num_failed_saves += 1
        told = {"finding": "checkpoint_failed", "tensor": "", "message": str(error)}
        self.store.append_event("finding", self.trainer.step, **told)

    def went_back(self) -> None:
        """Forget what was done at steps that are done again."""
        self.saved_step = self.trainer.step or -1
        self._evaluated, self._sampled_step, self._bad_step = (-1, 0.0), -1, -1

    def evaluate(self) -> None:
        """Write the validation loss down."""
        step, loss = self.trainer.step, self.trainer.validation_loss()
        self._evaluated = (step, loss)
        self.store.append_event("eval", step, validation_loss=loss)

    def sample(self) -> None:
        """Write down what the model writes."""
        length, self._sampled_step = self.trainer.config.sample_length, self.trainer.step
        sample = self.sampler.sample(self.trainer.whole_model(), length)
        self.store.append_event(
            "sample",
            self.trainer.step,
            prompt=sample.prompt,
            text=sample.text,
            num_words=sample.num_words,
            num_real_words=sample.num_real_words,
            written=[each.to_json() for each in sample.written],
        )

    def save(self, orders: Orders) -> bool:
        """Save a checkpoint; return whether nothing is lost that the disk should hold.

        A disk that refuses costs this checkpoint, not the run. Weights that are not finite are not
        saved: the last good checkpoint stays the newest.
        """
        step = self.trainer.step
        # of several ranks one that is lost is missed here, also where nothing is to be saved
        if not self.trainer.is_finite() or step in (self.saved_step, self._bad_step):
            return True
        loss = self._evaluated[1] if self._evaluated[0] == step else None
        try:
            self.store.sync()  # a checkpoint never knows of steps that a power cut could take
            directory = self.store.directory
            path, num_bytes = save_checkpoint(directory, self.trainer, orders, loss)
        except RunStorageError as error:
            if self._milestone_made_way(error):
                return self.save(orders)
            self._not_saved(error)
            return False
        self.saved_step = step
        told = {"file": path.name, "num_bytes": num_bytes, "validation_loss": loss}
        self.store.append_event("checkpoint", step, **told)
        return True

    def _milestone_made_way(self, error: RunStorageError) -> bool:
        """Delete the newest milestone if the disk is full; from then on none is written."""
        kept = milestones(self.store.directory)
        if not kept or error.errno not in (None, errno.ENOSPC, errno.EDQUOT):
            return False  # torch tells of a full disk without a number
        self._milestones = ()
        try:
            kept[-1].unlink(missing_ok=True)
        except OSError:  # Windows deletes no file that somebody reads
            return False
        return True

    def non_finite(self, result: StepResult) -> None:
        """Write down where a number stopped being finite.

        With a loss that is none, these weights are no good checkpoint, finite as they may be.
        """
        if not math.isfinite(result.loss):
            self._bad_step = result.step
        self.store.append_event(
            "finding", result.step, finding="non_finite", tensor=result.tensor, loss=result.loss
        )

    def _record(self, result: StepResult, done_at: float) -> None:
        tokens = self.trainer.config.tokens_per_step
        self.store.append_step(record_of(result, done_at, tokens, self.resident_bytes()))
        faults.at("step_recorded")

    def resident_bytes(self, *, fresh: bool = False) -> int:
        """Return the physical memory of this process, at most a second old."""
        now = time.monotonic()
        if fresh or now - self._resident_at > RESIDENT_SECONDS:
            self._resident, self._resident_at = self._process.memory_info().rss, now
        return self._resident


def record_of(
    result: StepResult, done_at: float, num_tokens: int, resident_bytes: int
) -> StepRecord:
    """Return the record of a step of so many tokens, done at a Unix time in seconds."""
    return StepRecord(
        step=result.step,
        time=done_at,
        seconds=result.seconds,
        loss=result.loss,
        learning_rate=result.learning_rate,
        grad_norm=result.grad_norm,
        tokens_per_second=num_tokens / result.seconds,
        resident_bytes=resident_bytes,
        flags=NON_FINITE | SKIPPED if result.skipped else SKIPPED * result.overflowed,
    )
