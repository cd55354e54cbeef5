"""Gradients of a deep network, layer by layer: how they vanish, explode and are clipped."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from torch.nn import Parameter

WIDTH: Final = 32
_BATCH: Final = 64
_SEED: Final = 0
_TRUNCATED_SIDE: Final = 128  # a layer of 128 x 128 = 16,384 weights


@dataclass(frozen=True, kw_only=True, slots=True)
class ClippedNorms:
    """Norms of one backward pass.

    Attributes:
        before, after: One a layer, the first layer first.
        total_before, total_after: Of all gradients together.
    """

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

    Args:
        depth: Layers of 32 x 32 weights.
        gain: The weights are drawn with a standard deviation of gain / sqrt(32).
        max_norm: Of `torch.nn.utils.clip_grad_norm_`.
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
