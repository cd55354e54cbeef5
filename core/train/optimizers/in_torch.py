"""What torch's own optimizers, schedulers and clipping do, asked from torch.

Gradients of a deep network, layer by layer, vanish, explode and are clipped.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from torch.nn import Parameter
    from torch.optim import Optimizer

WIDTH: Final = 32
_BATCH: Final = 64
_SEED: Final = 0
_TRUNCATED_SIDE: Final = 128  # a layer of 128 x 128 = 16,384 weights
SIDE: Final = 256  # of the square matrix that is trained for one step, in float32
NUM_PARAMS: Final = SIDE * SIDE
WARMUP_START: Final = 0.01  # share of the rate at the first step of the warm-up
LOWEST_RATE: Final = 1e-5
PEAK_RATE: Final = 1e-3


@dataclass(frozen=True, kw_only=True, slots=True)
class ClippedNorms:
    """Gradient norms of one backward pass, a layer each, and of all gradients together."""

    before: tuple[float, ...]
    after: tuple[float, ...]
    total_before: float
    total_after: float

    @property
    def factor(self) -> float:
        """What every gradient was multiplied by."""
        return self.total_after / self.total_before if self.total_before else 1.0


def clipped_norms(depth: int, gain: float, max_norm: float) -> ClippedNorms:
    """Run a tanh network forwards and backwards and clip its gradients with torch.

    `depth` layers of 32 x 32 weights, drawn with a standard deviation of gain / sqrt(32).
    """
    import torch

    random = torch.Generator().manual_seed(_SEED)
    weights = [
        torch.nn.Parameter(torch.randn(WIDTH, WIDTH, generator=random) * gain / math.sqrt(WIDTH))
        for _ in range(depth)
    ]
    x = torch.randn(_BATCH, WIDTH, generator=random)
    target = torch.randn(_BATCH, WIDTH, generator=random)
    for weight in weights:
        x = torch.tanh(x @ weight)
    (x - target).square().mean().backward()
    before = _norms(weights)
    total = float(torch.nn.utils.clip_grad_norm_(weights, max_norm))
    after = _norms(weights)
    return ClippedNorms(
        before=before, after=after, total_before=total, total_after=math.hypot(*after)
    )


def _norms(weights: "list[Parameter]") -> tuple[float, ...]:
    return tuple(0.0 if each.grad is None else float(each.grad.norm()) for each in weights)


def largest_deviations() -> tuple[float, float]:
    """Return the largest of 16,384 x 16 truncated weights, in standard deviations, cut two ways.

    First with a=-3, b=3, which are absolute and cut nothing at this size; then with a=-3*std,
    b=3*std.
    """
    import torch

    std = 1 / _TRUNCATED_SIDE
    found = []
    for bound in (3.0, 3 * std):
        random = torch.Generator().manual_seed(_SEED)
        drawn = torch.empty(16, _TRUNCATED_SIDE, _TRUNCATED_SIDE)
        torch.nn.init.trunc_normal_(drawn, std=std, a=-bound, b=bound, generator=random)
        found.append(float(drawn.abs().max()) / std)
    return found[0], found[1]


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldBytes:
    """Bytes after one step: tensors of the optimizer's state, by name; counters of steps apart."""

    name: str
    tensors: tuple[tuple[str, int], ...]

    @property
    def per_parameter(self) -> float:
        """Bytes of state for one weight."""
        return sum(size for _name, size in self.tensors) / NUM_PARAMS


def state_bytes() -> tuple[HeldBytes, ...]:
    """Take one step with each of torch's optimizers and return the bytes of its state."""
    import torch
    from torch import optim

    made: dict[str, Any] = {
        "SGD": lambda p: optim.SGD(p, lr=0.1),
        "Momentum": lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
        "AdaGrad": lambda p: optim.Adagrad(p, lr=0.1),
        "RMSProp": lambda p: optim.RMSprop(p, lr=0.1),
        "Adam": lambda p: optim.Adam(p, lr=0.1),
        "AdamW": lambda p: optim.AdamW(p, lr=0.1),
        "Muon": lambda p: optim.Muon(p, lr=0.1),
    }
    rows = []
    for name, make in made.items():
        p = torch.nn.Parameter(torch.ones(SIDE, SIDE))
        optimizer = make([p])
        p.grad = torch.ones_like(p)
        optimizer.step()
        held = tuple(
            (key, each.nbytes)
            for key, each in optimizer.state[p].items()
            if isinstance(each, torch.Tensor) and each.numel() > 1
        )
        rows.append(HeldBytes(name=name, tensors=held))
    return tuple(rows)


def gradient_bytes(*, set_to_none: bool) -> int:
    """Return the bytes of gradient that a weight still holds after `zero_grad`."""
    import torch

    p = torch.nn.Parameter(torch.ones(SIDE, SIDE))
    optimizer = torch.optim.SGD([p], lr=0.1)
    p.sum().backward()
    optimizer.zero_grad(set_to_none=set_to_none)
    return 0 if p.grad is None else p.grad.nbytes


def scheduled_rates(kind: str, num_steps: int, turn: int) -> tuple[float, ...]:
    """Return the rates of a schedule, one a step or epoch and the one after the last.

    "step" is StepLR, by 0.1 every `turn` epochs. "cosine" is CosineAnnealingLR: it comes down for
    `turn` epochs, and climbs again if there are more. "warmup" is LinearLR(.01 -> 1) for `turn`
    steps and CosineAnnealingLR(eta_min=1e-5) for the others, by SequentialLR.
    """
    import torch

    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=PEAK_RATE)
    scheduler = _scheduler(kind, optimizer, num_steps, turn)
    rates = [optimizer.param_groups[0]["lr"]]
    for _ in range(num_steps):
        optimizer.step()
        scheduler.step()
        rates.append(optimizer.param_groups[0]["lr"])
    return tuple(rates)


def _scheduler(kind: str, optimizer: "Optimizer", num_steps: int, turn: int) -> Any:  # noqa: ANN401
    from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR, StepLR

    if kind == "step":
        return StepLR(optimizer, turn, gamma=0.1)
    if kind == "cosine":
        return CosineAnnealingLR(optimizer, turn)
    warmup = LinearLR(optimizer, WARMUP_START, 1.0, total_iters=turn)
    cosine = CosineAnnealingLR(optimizer, num_steps - turn, eta_min=LOWEST_RATE)
    return SequentialLR(optimizer, [warmup, cosine], milestones=[turn])
