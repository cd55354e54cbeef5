"""What is written down of a run: a record each step; evaluations, samples, memory, checkpoints."""

import time
from pathlib import Path
from typing import Final

import psutil

from core.train.checkpoint import save_checkpoint
from core.train.disk import RunStorageError
from core.train.memory_watch import MemoryWatch
from core.train.records import NON_FINITE, SKIPPED, StepRecord
from core.train.sampler import Sampler
from core.train.store import RunStore
from core.train.trainer import StepResult, Trainer

RESIDENT_SECONDS: Final = 1.0  # asking the system for the process's memory costs more than a record


class Observer:
    """Watches a trainer and writes to its run.

    Args:
        trainer: What is watched.
        store: Where records and events go.
        directory: The run directory, for checkpoints.
        sampler: Writes the samples.
    """

    def __init__(
        self, trainer: Trainer, store: RunStore, directory: Path, sampler: Sampler
    ) -> None:
        self.trainer, self.store, self.sampler = trainer, store, sampler
        self.directory = directory
        self.saved_step = -1
        self.num_failed_saves = 0
        self._process = psutil.Process()
        self._resident, self._resident_at = 0, 0.0

    def step(self) -> StepResult:
        """Do one step, with the memory watch when it is due, and record it."""
        upcoming = self.trainer.step + 1
        due = upcoming == 1 or upcoming % self.trainer.config.memory_interval == 0
        watch = self._memory_watch() if due else None
        result = self.trainer.train_step(watch)
        self._record(result)
        if watch is not None:
            memory, resident = watch.result.to_json(), self._resident_bytes(fresh=True)
            self.store.append_event("memory", result.step, **memory, resident_bytes=resident)
        return result

    def at_the_start(self) -> None:
        """Write down what an untrained model does."""
        self.evaluate()
        self.sample()

    def after_step(self, step: int) -> None:
        """Do what is due after a step; the last step is always evaluated and sampled."""
        config = self.trainer.config
        last = step == config.num_steps
        if step % config.eval_interval == 0 or last:
            self.evaluate()
        if step % config.sample_interval == 0 or last:
            self.sample()
        if step % config.checkpoint_interval == 0 and not last:
            self.save()

    def evaluate(self) -> None:
        """Write the validation loss down."""
        loss = self.trainer.validation_loss()
        self.store.append_event("eval", self.trainer.step, validation_loss=loss)

    def sample(self) -> None:
        """Write down what the model writes."""
        length = self.trainer.config.sample_length
        sample = self.sampler.sample(self.trainer.model, length)
        self.store.append_event(
            "sample",
            self.trainer.step,
            prompt=sample.prompt,
            text=sample.text,
            num_words=sample.num_words,
            num_real_words=sample.num_real_words,
        )

    def save(self) -> bool:
        """Save a checkpoint; a disk that refuses costs this checkpoint, not the run.

        Returns:
            Whether the trainer's present step is now safe on the disk.
        """
        step = self.trainer.step
        if self.saved_step == step:
            return True
        try:
            self.store.sync()
            path, num_bytes = save_checkpoint(self.directory, self.trainer)
        except RunStorageError as error:
            self.num_failed_saves += 1
            self.store.append_event(
                "finding", step, finding="checkpoint_failed", tensor="", message=str(error)
            )
            return False
        self.saved_step = step
        self.store.append_event("checkpoint", step, file=path.name, num_bytes=num_bytes)
        return True

    def non_finite(self, result: StepResult) -> None:
        """Write down where a number stopped being finite."""
        self.store.append_event(
            "finding", result.step, finding="non_finite", tensor=result.tensor, loss=result.loss
        )

    def _record(self, result: StepResult) -> None:
        self.store.append_step(
            StepRecord(
                step=result.step,
                time=time.time(),
                seconds=result.seconds,
                loss=result.loss,
                learning_rate=result.learning_rate,
                grad_norm=result.grad_norm,
                tokens_per_second=self.trainer.config.tokens_per_step / result.seconds,
                resident_bytes=self._resident_bytes(),
                flags=NON_FINITE | SKIPPED if result.skipped else 0,
            )
        )

    def _memory_watch(self) -> MemoryWatch:
        trainer = self.trainer
        return MemoryWatch(trainer.model, trainer.optimizer, (trainer.training, trainer.validation))

    def _resident_bytes(self, *, fresh: bool = False) -> int:
        now = time.monotonic()
        if fresh or now - self._resident_at > RESIDENT_SECONDS:
            self._resident, self._resident_at = self._process.memory_info().rss, now
        return self._resident
