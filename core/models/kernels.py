"""The operations that implementations write differently, and so keep different tensors for.

The mathematics of a model fixes its FLOPs; which tensors wait for the backward pass is decided by
the kernels. One row of `KERNELS` is one way to write them. The rows for a GPU call operations that
run on meta tensors only: they have shapes, dtypes and saved tensors of the fused kernel, no values.
Torch takes RMSNorm and SwiGLU apart there and keeps more than a fused kernel does; their stand-ins
here keep exactly what the kernel keeps, and compute nothing.

Shape letters: B batch, T tokens, C width, H query heads, K key heads, D head width.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor
from torch.autograd import Function
from torch.nn import functional as F  # noqa: N812  the field's own name

EPSILON: Final = 1e-6
GELU_SCALE: Final = (2 / torch.pi) ** 0.5
DROPOUT: Final = 0.1  # of the one profile that drops


@dataclass(frozen=True, kw_only=True, slots=True)
class Kernels:
    """One way to write a block.

    `attend` is causal, q (B, H, T, D), k and v (B, K, T, D) to (B, H, T, D); `dropout` follows
    attention and feed-forward layer.
    """

    rms_norm: Callable[[Tensor, Tensor], Tensor]  # (x, weight) to the normed x
    attend: Callable[[Tensor, Tensor, Tensor], Tensor]
    gate: Callable[[Tensor, Tensor], Tensor]  # (gate, up) to silu(gate) * up
    gelu: Callable[[Tensor], Tensor]  # x to GELU(x), the tanh form
    dropout: Callable[[Tensor], Tensor] = lambda x: x


def eager_rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    """Norm in fp32 as Hugging Face writes it: it keeps x in fp32, 1 / rms and the normed x."""
    wide = x.float()
    normed = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPSILON)
    return weight * normed.to(x.dtype)


def eager_gate(gate: Tensor, up: Tensor) -> Tensor:
    """Two operations: silu(gate) is kept beside gate and up."""
    return F.silu(gate) * up


def eager_gelu(x: Tensor) -> Tensor:
    """GELU out of small operations, as Hugging Face's NewGELU: it keeps four tensors."""
    inner = GELU_SCALE * (x + 0.044715 * torch.pow(x, 3.0))
    return 0.5 * x * (1.0 + torch.tanh(inner))


def tanh_gelu(x: Tensor) -> Tensor:
    """GELU in one operation: it keeps x."""
    return F.gelu(x, approximate="tanh")


def flash_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention in tiles, by a GPU's kernel (Dao 2023): it keeps q, k, v, out and 1 fp32 a row."""
    outputs = torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, True, False)
    mixed: Tensor = outputs[0]
    return mixed


def cpu_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention in tiles, by torch's CPU kernel: it keeps the same tensors."""
    outputs = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, True)
    mixed: Tensor = outputs[0]
    return mixed


def full_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention that writes all T x T scores and drops some: softmax, mask and product are kept."""
    groups = q.shape[1] // k.shape[1]
    if groups > 1:
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
    scores = (q * q.shape[-1] ** -0.5) @ k.transpose(-2, -1)  # (B, H, T, T)
    ahead = q.new_full(scores.shape[-2:], float("-inf")).triu_(1)
    # added in place, the mask is kept by nobody, as in a kernel that masks and takes the softmax
    scores = scores.add_(ahead)
    return fused_dropout(scores.softmax(-1)) @ v


def fused_dropout(x: Tensor) -> Tensor:
    """Dropout in one operation: it keeps a mask of one byte a number."""
    return torch.native_dropout(x, DROPOUT, train=True)[0]


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


_FUSED: Final = Kernels(
    rms_norm=fused_rms_norm, attend=flash_attention, gate=fused_gate, gelu=tanh_gelu
)
KERNELS: Final[Mapping[str, Kernels]] = {
    "hf_eager": Kernels(
        rms_norm=eager_rms_norm, attend=flash_attention, gate=eager_gate, gelu=eager_gelu
    ),
    "fused": _FUSED,
    "megatron": Kernels(
        rms_norm=fused_rms_norm,
        attend=full_attention,
        gate=fused_gate,
        gelu=tanh_gelu,
        dropout=fused_dropout,
    ),
    "cpu": Kernels(rms_norm=eager_rms_norm, attend=cpu_attention, gate=eager_gate, gelu=tanh_gelu),
}
