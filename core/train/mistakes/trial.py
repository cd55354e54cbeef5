"""A short run whose steps are looked at closely: what Break it starts in a process of its own.

`python -m core.train.mistakes.trial SWITCH SEED` runs a switch's two sides and prints JSON lines:
how far it is, then the rows of both.
"""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Final

import torch
from torch import Tensor, nn

from core.train.config import TrainConfig
from core.train.learning.mistakes import OF_THE_LOOP, starts_of
from core.train.learning.trainer import StepResult, Trainer
from core.train.learning.updates import Before, asked_updates, ulp
from core.train.mistakes.rows import Probe, Rows
from core.train.mistakes.switches import SIDES, SWITCHES, config_of
from core.train.text.dataset import Dataset, build_dataset

NUM_PROBES: Final = 6
FIRST_PROBES: Final = (1, 2, 3, 5, 8)
NUM_VALIDATIONS: Final = 3
_CPU: Final = torch.device("cpu")
_EVERY: Final = 10  # steps, between two lines that say how far it is
Tell = Callable[[int], None]


def run_trial(config: TrainConfig, dataset: Dataset, tell: Tell = lambda _step: None) -> Rows:
    """Return what a run of that config does, up to its first number that is not finite."""
    trainer = Trainer.of(config, dataset, _CPU)
    results: list[StepResult] = []
    probes: list[Probe] = []
    validations: list[tuple[int, float, float]] = []
    probed = {*FIRST_PROBES, *_spread(NUM_PROBES, config.num_steps)}
    for step in range(1, config.num_steps + 1):
        before = Before.of(trainer) if step in probed else None
        results.append(trainer.train_step())
        tell(step)
        if results[-1].skipped:
            break
        if before:
            probes.append(_probe(trainer, dataset, before, results[-1]))
        if step in _spread(NUM_VALIDATIONS, config.num_steps):
            validations.append((step, trainer.validation_loss(), trainer.validation_loss()))
    return _rows(trainer, dataset, results, probes, validations)


def _spread(count: int, num_steps: int) -> tuple[int, ...]:
    """Return the last step and others evenly before it."""
    return tuple(round(num_steps * part / count) for part in range(1, count + 1))


def _rows(
    trainer: Trainer, dataset: Dataset, results: Sequence[StepResult], probes: Sequence[Probe],
    validations: Sequence[tuple[int, float, float]],
) -> Rows:  # fmt: skip
    config = trainer.config
    weights = dict(trainer.model.named_parameters())
    bad = weights.get(results[-1].tensor, next(iter(weights.values())))
    moments = [state["exp_avg_sq"] for state in trainer.optimizer.state.values()]
    starts = (starts_of(config, each.step, len(trainer.training)) for each in results)
    return Rows(
        batch_tokens=config.tokens_per_step, accumulation_steps=config.accumulation_steps,
        num_tokens=len(trainer.training), starts=[int(each[0]) for each in starts],
        learning_rates=[each.learning_rate for each in results],
        losses=[each.loss for each in results], norms=[each.grad_norm for each in results],
        validations=validations, probes=probes, bad_tensor=results[-1].tensor,
        bad_format=str(bad.dtype).removeprefix("torch."), eps=config.eps,
        kept_eps=torch.tensor(config.eps, dtype=bad.dtype).item(),
        no_moment=(_flat(moments) == 0).double().mean().item(),
        uniform=dataset.entropy.uniform, bigram=dataset.entropy.bigram,
    )  # fmt: skip


def _flat(tensors: Sequence[Tensor]) -> Tensor:
    return torch.cat([each.detach().flatten().double() for each in tensors])


def _probe(trainer: Trainer, dataset: Dataset, before: Before, result: StepResult) -> Probe:
    """Look at a step that has just been done."""
    weights = list(trainer.model.parameters())
    used, old, new = _flat(_gradients(weights)), _flat(before.weights), _flat(weights)
    second = _second_try(trainer, dataset, before.weights, result.step)
    own = second.train_step()
    own_gradient = _flat(_gradients(list(second.model.parameters())))
    after = _second_try(trainer, dataset, weights, result.step).train_step().loss
    asked = _flat(asked_updates(trainer, before))
    wanted = asked != 0
    ulps = _flat([ulp(weight) for weight in before.weights])
    leak, copied = _look_at_model(trainer)
    return Probe(
        step=result.step, loss=own.loss, loss_after=after, leak=leak, copied=copied,
        norm=result.grad_norm, own_norm=own.grad_norm,
        cosine=nn.functional.cosine_similarity(used, own_gradient, dim=0).item(),
        vanished=((used == 0) & (own_gradient != 0)).double().mean().item(),
        unmoved=(old == new)[wanted].double().mean().item() if wanted.any() else 0.0,
        ulps=(asked / ulps)[wanted].abs().median().item() if wanted.any() else 0.0,
        moved=((new - old).norm() / old.norm()).item(),
    )  # fmt: skip


def _gradients(weights: Sequence[Tensor]) -> list[Tensor]:
    return [weight.grad for weight in weights if weight.grad is not None]


def _second_try(
    trainer: Trainer, dataset: Dataset, weights: Sequence[Tensor], step: int
) -> Trainer:
    """Return a trainer before the same step, with these weights: in float32, its loop healthy."""
    config = trainer.config
    mistake = "" if config.mistake in OF_THE_LOOP else config.mistake
    second = Trainer.of(replace(config, precision="fp32", mistake=mistake), dataset, _CPU)
    with torch.no_grad():
        for weight, value in zip(second.model.parameters(), weights, strict=True):
            weight.copy_(value)
    second.step = step - 1
    return second


@torch.no_grad()
def _look_at_model(trainer: Trainer) -> tuple[float, float]:
    """Return how far scores move when only later tokens change, and the share of copied tokens."""
    config, model = trainer.config, trainer.model.eval()
    half, length = config.seq_len // 2, config.seq_len
    tokens = trainer.validation[: length * config.batch_size].long().view(-1, length)
    changed = tokens.clone()
    changed[:, half:] = tokens.flip(0)[:, half:]
    scores, others = model.logits(tokens), model.logits(changed)
    model.train()
    leak = (scores - others)[:, :half].abs().max().item()
    return leak, (scores.argmax(-1) == tokens).double().mean().item()


def main(arguments: Sequence[str]) -> None:
    """Run both sides of the switch that the command line names."""
    key, seed = arguments[0], int(arguments[1])
    torch.set_num_threads(1)
    sides: dict[str, object] = {}
    for side in SIDES:
        config = config_of(SWITCHES[key], side, seed)

        def tell(step: int, side: str = side, last: int = config.num_steps) -> None:
            if step % _EVERY == 0:
                _print({"side": side, "step": step, "num_steps": last})

        sides[side] = asdict(run_trial(config, build_dataset(config), tell))
    _print(sides)


def _print(data: object) -> None:
    sys.stdout.write(json.dumps(data) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
