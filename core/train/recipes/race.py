"""Train recipes in turns of some steps, so that their curves grow together.

`python -m core.train.recipes.race COMPARISON [THREADS]` trains what the JSON says on the CPU and
prints a line of JSON for what each recipe holds, then one for each turn. Seconds are those of a
recipe's own steps.
"""

import json
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import torch

from core.train.config import TrainConfig
from core.train.control.device import hold_device
from core.train.learning.memory_watch import MemoryWatch
from core.train.learning.precision import multiply_fp32_in_fp32, num_training_threads
from core.train.learning.trainer import Trainer
from core.train.learning.updates import Before, asked_updates, ulp
from core.train.recipes.choices import HOLDER, TURN, Comparison
from core.train.text.dataset import Dataset, dataset_of

Line = dict[str, Any]
_CPU: Final = torch.device("cpu")


@dataclass(slots=True)
class Runner:
    """One recipe: its trainer, and whether it goes on."""

    trainer: Trainer
    is_over: bool = False

    def turn(self, num_steps: int) -> Line:
        """Train some steps; return their losses, their seconds and how the model stands then."""
        told: Line = {"losses": [], "seconds": 0.0, "tensor": ""}
        before = None
        for step in range(num_steps):
            before = Before.of(self.trainer) if step == num_steps - 1 else None
            began = _clock()
            result = self.trainer.train_step()
            told["seconds"] += _clock() - began
            if result.skipped:
                self.is_over = True
                return told | {"tensor": result.tensor or "loss"}
            told["losses"].append(result.loss)
        validation = self.trainer.validation_loss()
        if not math.isfinite(validation):  # the last update was not
            self.is_over = True
            return told | {"tensor": "loss"}
        lost = lost_share(self.trainer, before) if before else None
        return told | {"validation": validation, "lost": lost}


def _clock() -> float:
    """Return seconds; of one thread those of the CPU, which no other program lengthens."""
    return time.process_time() if torch.get_num_threads() == 1 else time.perf_counter()


def race(comparison: Comparison) -> Iterator[Line]:
    """Yield what each recipe holds, measured alone, then every turn of each."""
    configs = [comparison.config(option) for option in comparison.options]
    dataset = dataset_of(configs[0])
    for place, config in enumerate(configs):
        yield {"recipe": place, "memory": held_bytes(config, dataset)}
    runners = [Runner(Trainer.of(config, dataset, _CPU)) for config in configs]
    for begin in range(0, comparison.num_steps, TURN):
        for place, runner in enumerate(runners):
            if not runner.is_over:
                num_steps = min(TURN, comparison.num_steps - begin)
                yield {"recipe": place, **runner.turn(num_steps)}


def held_bytes(config: TrainConfig, dataset: Dataset) -> Line:
    """Return the bytes of the second step of a recipe, when no other model is alive."""
    trainer = Trainer.of(config, dataset, _CPU)
    trainer.train_step()
    watch = MemoryWatch(trainer.model, trainer.optimizer)
    trainer.train_step(watch)
    return watch.result.to_json()


def lost_share(trainer: Trainer, before: Before) -> float | None:
    """Return the share of the weights whose update is below half an ulp; None if nothing moves.

    The update is what fp32 would make it, held against the distance to the neighbouring numbers of
    the weight's own format.
    """
    num_small = num_updated = 0
    for update, weight in zip(asked_updates(trainer, before), before.weights, strict=True):
        moves = update != 0
        num_updated += int(moves.sum())
        num_small += int((moves & (update.abs() < ulp(weight) / 2)).sum())
    return num_small / num_updated if num_updated else None


def main(text: str, threads: str = "") -> None:
    """Hold the CPU, race, and print each line as it is known."""
    torch.set_num_threads(int(threads) if threads else num_training_threads())
    multiply_fp32_in_fp32()
    with hold_device("cpu", HOLDER):
        for line in race(Comparison(**json.loads(text))):
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
