"""CUDA's autocast to bfloat16, emulated on meta: matrix products in bf16, all else as it comes.

Matrices are cast once a forward pass and the copies stay until its end: autocast's weight cache.
"""

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  the field's own name

from core.models.build import Block, Decoder
from core.models.kernels import GELU_SCALE, Kernels, eager_gelu


class CastLinear(nn.Module):
    """A linear layer under autocast."""

    def __init__(self, linear: nn.Linear, cache: dict[int, Tensor]) -> None:
        super().__init__()
        self.weight, self.cache = linear.weight, cache
        self.bias: Tensor | None = linear.bias

    def forward(self, x: Tensor) -> Tensor:
        """Transform the last axis, in bfloat16."""
        bias = None if self.bias is None else self._cast(self.bias)
        return F.linear(x.bfloat16(), self._cast(self.weight), bias)

    def _cast(self, weight: Tensor) -> Tensor:
        if torch._C._current_autograd_node() is not None:
            return weight.bfloat16()  # a rerun has a cache of its own, gone at its end
        if id(weight) not in self.cache:
            self.cache[id(weight)] = weight.bfloat16()
        return self.cache[id(weight)]


def use_autocast(model: Decoder) -> dict[int, Tensor]:
    """Run the model's matrix products in bf16; clear the returned cache after each forward pass."""
    cache: dict[int, Tensor] = {}
    for part in list(model.modules()):
        for name, child in list(part.named_children()):
            if isinstance(child, nn.Linear):
                setattr(part, name, CastLinear(child, cache))
    for block in model.blocks:
        assert isinstance(block, Block)  # noqa: S101  the decoder makes no others
        kernels = _under_autocast(block.attention.kernels)
        for part in (block.attention, block.feed_forward):
            setattr(part, "kernels", kernels)  # noqa: B010  torch types a part as any module
    return cache


def _under_autocast(kernels: Kernels) -> Kernels:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return kernels.attend(q.bfloat16(), k.bfloat16(), v.bfloat16())

    gelu = _wide_gelu if kernels.gelu is eager_gelu else kernels.gelu
    return replace(kernels, attend=attend, gelu=gelu)


def _wide_gelu(x: Tensor) -> Tensor:
    """`eager_gelu` with its power, and so all that follows, in fp32: pow is on autocast's list."""
    inner = GELU_SCALE * (x + 0.044715 * torch.pow(x.float(), 3.0))
    return 0.5 * x * (1.0 + torch.tanh(inner))
