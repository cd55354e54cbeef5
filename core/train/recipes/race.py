"""Train recipes in turns of some steps, so that their curves grow together.

`python -m core.train.recipes.race COMPARISON [THREADS]` trains what the JSON says on the CPU and
prints a line of JSON for what each recipe holds, then one for each turn. Seconds are those of a
recipe's own steps.
"""

import copy
import json
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor, nn

from core.train.config import TrainConfig
from core.train.control.device import hold_device
from core.train.learning.memory_watch import MemoryWatch
from core.train.learning.optimizers import make_optimizer
from core.train.learning.precision import multiply_fp32_in_fp32, num_training_threads
from core.train.learning.trainer import Trainer
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
        losses: list[float] = []
        seconds, before = 0.0, None
        for step in range(num_steps):
            before = _before(self.trainer) if step == num_steps - 1 else None
            began = _clock()
            result = self.trainer.train_step()
            seconds += _clock() - began
            if result.skipped:
                return self._over(losses, seconds, result.tensor or "loss")
            losses.append(result.loss)
        validation = self.trainer.validation_loss()
        if not math.isfinite(validation):  # the last update was not
            return self._over(losses, seconds, "loss")
        lost = lost_share(self.trainer, *before) if before else None
        told = {"losses": losses, "seconds": seconds, "tensor": ""}
        return told | {"validation": validation, "lost": lost}

    def _over(self, losses: list[float], seconds: float, tensor: str) -> Line:
        self.is_over = True
        return {"losses": losses, "seconds": seconds, "tensor": tensor}


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


def _before(trainer: Trainer) -> tuple[dict[str, Any], list[Tensor]]:
    """Return a copy of what the next step starts from: the optimizer's state and the weights."""
    weights = [weight.detach().clone() for weight in trainer.model.parameters()]
    return copy.deepcopy(trainer.optimizer.state_dict()), weights


def lost_share(trainer: Trainer, state: dict[str, Any], weights: list[Tensor]) -> float | None:
    """Return the share of the weights whose update is below half an ulp; None if nothing moves.

    The step is done once more in fp32, from the same weights, gradients and state; an update is
    held against the distance to the neighbouring numbers of the weight's own format.
    """
    shadow: nn.Module = copy.deepcopy(trainer.model).float()
    reals = trainer.model.parameters()
    for own, weight, real in zip(shadow.parameters(), weights, reals, strict=True):
        own.data.copy_(weight)
        own.grad = None if real.grad is None else real.grad.float()
    optimizer = make_optimizer(shadow, trainer.config)
    optimizer.load_state_dict(state)
    for group, used in zip(optimizer.param_groups, trainer.optimizer.param_groups, strict=True):
        group["lr"] = used["lr"]  # of this step: the state has that of the one before
    optimizer.step()
    num_small = num_updated = 0
    for own, weight in zip(shadow.parameters(), weights, strict=True):
        update = (own.detach() - weight.float()).abs()
        moves = update > 0
        num_updated += int(moves.sum())
        num_small += int((moves & (update < ulp(weight) / 2)).sum())
    return num_small / num_updated if num_updated else None


def ulp(weight: Tensor) -> Tensor:
    """Return the distance from each number to its neighbour in its own format, as fp32."""
    info = torch.finfo(weight.dtype)
    exponent = torch.frexp(weight.float().abs().clamp(min=info.tiny)).exponent - 1
    return torch.ldexp(torch.full_like(exponent, info.eps, dtype=torch.float32), exponent)


def main(text: str, threads: str = "") -> None:
    """Hold the CPU, race, and print each line as it is known."""
    torch.set_num_threads(int(threads) if threads else num_training_threads())
    multiply_fp32_in_fp32()
    asked = json.loads(text)
    base = tuple((name, value) for name, value in asked.pop("base"))
    comparison = Comparison(**asked | {"base": base, "values": tuple(asked["values"])})
    with hold_device("cpu", HOLDER):
        for line in race(comparison):
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
