"""One measurement in a process of its own: `python -m core.train.profiler QUESTION FOLDER`.

The question is JSON; the answer lies in the folder afterwards, and nothing in a run has changed.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from core.language import _
from core.train.control.device import TrainingDevice
from core.train.learning.tensors import newest_checkpoint
from core.train.profiler.measure import HOLDER, SECONDS, Subject, is_held_by_pause
from core.train.profiler.results import Result, write_result
from core.train.worker.turn import QueueLeftError, device_in_turn

if TYPE_CHECKING:
    from core.train.learning.trainer import Trainer

FRESH_STEPS = 20  # of a fresh model before its numbers: Adam's first updates are all of one size


def main(question: str, folder: str) -> None:
    """Measure what is asked and write it into the folder; what cannot be is one line of error."""
    asked = json.loads(question)
    what, num_steps = asked.pop("what"), asked.pop("num_steps")
    subject = Subject(**asked)
    try:
        with _turn(subject) as device:
            os.environ.update(device.environment if device else {})
            result = answer(what, num_steps, open_trainer(subject), Path(folder))
    except QueueLeftError as error:
        message = _("The device was not free within {seconds} s; try again later.")
        raise SystemExit(message.format(seconds=f"{SECONDS / 2:g}")) from error
    except ValueError as error:
        raise SystemExit(str(error)) from error
    write_result(what, result, Path(folder))


def _turn(subject: Subject) -> AbstractContextManager[TrainingDevice | None]:
    """Stand in line for the device, and hold it; beside a paused run nothing is held."""
    if is_held_by_pause(subject):
        return nullcontext()
    until, gpu = time.monotonic() + SECONDS / 2, subject.config().gpu

    def gives_up() -> bool:
        return time.monotonic() > until

    return device_in_turn(subject.device(), HOLDER, time.time(), gives_up, gpu)


def open_trainer(subject: Subject) -> "Trainer":
    """Return the trainer of a run at its newest checkpoint, or of a fresh model."""
    import torch

    from core.train.learning.precision import (
        multiply_fp32_in_fp32,
        num_training_threads,
        pick_device,
    )
    from core.train.learning.trainer import Trainer
    from core.train.text.dataset import build_dataset, load_dataset
    from core.train.worker.checkpoint import load_checkpoint

    torch.set_num_threads(num_training_threads())
    multiply_fp32_in_fp32()
    config, run = subject.config(), subject.directory if subject.run else None
    dataset = load_dataset(run / "data") if run else build_dataset(config)
    texts = (dataset.training_tokens, dataset.validation_tokens)
    device = pick_device(subject.device())  # type: ignore[arg-type]  # one of its names
    trainer = Trainer(config, *texts, dataset.tokenizer.vocab_size, device)
    if run:
        load_checkpoint(newest_checkpoint(run), trainer)
    return trainer


def answer(what: str, num_steps: int, trainer: "Trainer", folder: Path) -> Result:
    """Return the answer of a trainer; the folder takes what its steps write."""
    from core.train.profiler import numbers, step

    if what == "numbers" and not trainer.step:
        for _step in range(FRESH_STEPS):
            trainer.train_step()
    ways: dict[str, Callable[[], Result]] = {
        "anatomy": lambda: step.take_apart(trainer, folder),
        "item": lambda: step.compare_item(trainer),
        "compile": lambda: step.compare_compiled(trainer),
        "operators": lambda: step.profile_steps(trainer, num_steps, folder),
        "numbers": lambda: numbers.numbers_of_step(trainer),
    }
    return ways[what]()


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    main(*sys.argv[1:])
