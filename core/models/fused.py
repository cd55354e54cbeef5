"""Stand-ins for fused GPU kernels: what they take, return and keep, without any value.

On meta tensors torch takes RMSNorm and SwiGLU apart and keeps more than a fused kernel does. These
keep exactly what the kernel keeps. They compute nothing: use them on meta tensors only.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function


class _RMSNorm(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:  # noqa: ANN401  torch's context
        rstd = x.new_empty(x.shape[:-1], dtype=torch.float32)
        ctx.save_for_backward(x, weight, rstd)
        return torch.empty_like(x)

    @staticmethod
    def backward(ctx: Any, _grad: Tensor) -> tuple[Tensor, Tensor]:  # noqa: ANN401  torch's context
        x, weight, _rstd = ctx.saved_tensors
        return torch.empty_like(x), torch.empty_like(weight)


class _Gate(Function):
    @staticmethod
    def forward(ctx: Any, gate: Tensor, up: Tensor) -> Tensor:  # noqa: ANN401  torch's context
        ctx.save_for_backward(gate, up)
        return torch.empty_like(up)

    @staticmethod
    def backward(ctx: Any, _grad: Tensor) -> tuple[Tensor, Tensor]:  # noqa: ANN401  torch's context
        gate, up = ctx.saved_tensors
        return torch.empty_like(gate), torch.empty_like(up)


def fused_rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    """RMSNorm in one kernel: it keeps x as it came and 1 / rms, an fp32 number a row."""
    normed: Tensor = _RMSNorm.apply(x, weight)  # type: ignore[no-untyped-call]  # torch's own
    return normed


def fused_gate(gate: Tensor, up: Tensor) -> Tensor:
    """SwiGLU's product in one kernel: it keeps gate and up."""
    product: Tensor = _Gate.apply(gate, up)  # type: ignore[no-untyped-call]  # torch's own
    return product
