"""What an optimizer asks of the weights in a step, and how much of that their format can hold."""

import copy
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from core.train.learning.optimizers import make_optimizer
from core.train.learning.trainer import Trainer


class Before(NamedTuple):
    """What a step starts from, copied: the optimizer's state and the weights."""

    state: dict[str, Any]
    weights: list[Tensor]

    @classmethod
    def of(cls, trainer: Trainer) -> "Before":
        """Return it for the step that comes."""
        weights = [weight.detach().clone() for weight in trainer.model.parameters()]
        return cls(copy.deepcopy(trainer.optimizer.state_dict()), weights)


def asked_updates(trainer: Trainer, before: Before) -> list[Tensor]:
    """Return what the step just done would have added to each weight if all were in fp32.

    It is done once more, from the same weights, gradients and state.
    """
    shadow: nn.Module = copy.deepcopy(trainer.model).float()
    reals = trainer.model.parameters()
    for own, weight, real in zip(shadow.parameters(), before.weights, reals, strict=True):
        own.data.copy_(weight)
        own.grad = None if real.grad is None else real.grad.float()
    optimizer = make_optimizer(shadow, trainer.config)
    optimizer.load_state_dict(before.state)
    for group, used in zip(optimizer.param_groups, trainer.optimizer.param_groups, strict=True):
        group["lr"] = used["lr"]  # of this step: the state has that of the one before
    optimizer.step()
    pairs = zip(shadow.parameters(), before.weights, strict=True)
    return [own.detach() - weight.float() for own, weight in pairs]


def ulp(weight: Tensor) -> Tensor:
    """Return the distance from each number to its neighbour in its own format, as fp32."""
    info = torch.finfo(weight.dtype)
    exponent = torch.frexp(weight.float().abs().clamp(min=info.tiny)).exponent - 1
    return torch.ldexp(torch.full_like(exponent, info.eps, dtype=torch.float32), exponent)
