"""Learning rates as torch's own schedulers give them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from torch.optim import Optimizer

WARMUP_START: Final = 0.01  # share of the rate at the first step of the warm-up
LOWEST_RATE: Final = 1e-5
PEAK_RATE: Final = 1e-3


def warmup_then_cosine(num_steps: int, warmup_steps: int) -> tuple[float, ...]:
    """Return the rates of a linear warm-up and of the cosine after it, one a step and the last.

    LinearLR(.01 -> 1) and CosineAnnealingLR(eta_min=1e-5), one after the other by SequentialLR.

    Raises:
        ValueError: If no step is left for the cosine.
    """
    if not 0 < warmup_steps < num_steps:
        raise ValueError(f"the warm-up takes 1 to {num_steps - 1} steps, not {warmup_steps}")

    def made(optimizer: "Optimizer") -> Any:  # noqa: ANN401  torch's schedulers are untyped
        from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR

        warmup = LinearLR(optimizer, WARMUP_START, 1.0, total_iters=warmup_steps)
        cosine = CosineAnnealingLR(optimizer, num_steps - warmup_steps, eta_min=LOWEST_RATE)
        return SequentialLR(optimizer, [warmup, cosine], milestones=[warmup_steps])

    return _rates(made, num_steps)


def step_decay(num_epochs: int, step_size: int = 10, gamma: float = 0.1) -> tuple[float, ...]:
    """Return the rates of StepLR, one an epoch and the one after the last."""

    def made(optimizer: "Optimizer") -> Any:  # noqa: ANN401
        from torch.optim.lr_scheduler import StepLR

        return StepLR(optimizer, step_size, gamma)

    return _rates(made, num_epochs)


def cosine(num_epochs: int, t_max: int) -> tuple[float, ...]:
    """Return the rates of CosineAnnealingLR, one an epoch and the one after the last.

    It comes down for `t_max` epochs, and climbs again if there are more.
    """

    def made(optimizer: "Optimizer") -> Any:  # noqa: ANN401
        from torch.optim.lr_scheduler import CosineAnnealingLR

        return CosineAnnealingLR(optimizer, t_max)

    return _rates(made, num_epochs)


def _rates(made: Callable[["Optimizer"], Any], num_steps: int) -> tuple[float, ...]:
    import torch

    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=PEAK_RATE)
    scheduler = made(optimizer)
    rates = [optimizer.param_groups[0]["lr"]]
    for _ in range(num_steps):
        optimizer.step()
        scheduler.step()
        rates.append(optimizer.param_groups[0]["lr"])
    return tuple(rates)
