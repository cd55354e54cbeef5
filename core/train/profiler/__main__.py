"""One measurement in a process of its own: `python -m core.train.profiler QUESTION FOLDER`.

The question is JSON; the answer lies in the folder afterwards, and nothing in a run has changed.
"""

import json
import os
import sys
import time
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from core.language import _
from core.train.learning.tensors import newest_checkpoint
from core.train.profiler.measure import HOLDER, SECONDS, Subject, is_held_by_pause
from core.train.profiler.results import Where, to_json
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
        with ExitStack() as held:
            _take_device(subject, held)
            answer(what, num_steps, open_trainer(subject), Path(folder))
    except ValueError as error:
        raise SystemExit(str(error)) from error


def _take_device(subject: Subject, held: ExitStack) -> None:
    """Stand in line for the device, and hold it; beside a paused run nothing is held."""
    if is_held_by_pause(subject):
        return
    until, gpu = time.monotonic() + SECONDS / 2, subject.config().gpu

    def gives_up() -> bool:
        return time.monotonic() > until

    turn = device_in_turn(subject.device(), HOLDER, time.time(), gives_up, gpu)
    try:
        os.environ.update(held.enter_context(turn).environment)
    except QueueLeftError as error:
        message = _("The device was not free within {seconds} s; try again later.")
        raise ValueError(message.format(seconds=f"{SECONDS / 2:g}")) from error


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


def answer(what: str, num_steps: int, trainer: "Trainer", folder: Path) -> None:
    """Write the answer of a trainer into the folder."""
    from core.train.profiler import numbers, step

    if what == "numbers" and not trainer.step:
        for _step in range(FRESH_STEPS):
            trainer.train_step()
    where = _where(trainer)
    if what == "operators":
        _profile, trace = step.profile_steps(trainer, num_steps, folder)
        (folder / f"{what}.trace.json.gz").write_bytes(trace)
        text = json.dumps({"where": asdict(where), "num_steps": num_steps})
    elif what == "anatomy":
        text = to_json(step.take_apart(trainer, where, folder))
    elif what == "numbers":
        text = to_json(numbers.numbers_of_step(trainer, where))
    else:
        compare = {"item": step.compare_item, "compile": step.compare_compiled}
        text = to_json(compare[what](trainer, where))
    (folder / f"{what}.json").write_text(text, encoding="utf-8")


def _where(trainer: "Trainer") -> Where:
    import torch

    from core.train.learning.precision import device_name

    config = trainer.config
    return Where(
        title=config.name, step=trainer.step, precision=config.precision,
        optimizer=config.optimizer, device=trainer.device.type,
        device_name=device_name(trainer.device), threads=torch.get_num_threads(),
        num_params=sum(weight.numel() for weight in trainer.model.parameters()),
    )  # fmt: skip


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    main(*sys.argv[1:])
