"""What each tab does as plain torch, which runs anywhere."""

from collections.abc import Sequence
from typing import Final

from core.tensors.masks import MaskSpec

Shape = Sequence[int]

_BROADCAST: Final = """
import torch

shapes = [{shapes}]
tensors = [torch.empty(shape, dtype=torch.{dtype}, device="meta") for shape in shapes]
try:
    stretched = torch.broadcast_tensors(*tensors)
    print("result", tuple(stretched[0].shape))
    spared = 0
    for x, wide in zip(tensors, stretched):
        print("strides", wide.stride(), "storage", wide.untyped_storage().nbytes(), "bytes")
        spared += wide.nbytes if wide.numel() != x.numel() else 0
    print("stretched and written out:", spared, "bytes")
except RuntimeError as error:
    print(error)
"""
_MATMUL: Final = """
import torch
from torch.utils._python_dispatch import TorchDispatchMode

copied = []


class Watch(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {{}}))
        if function is torch.ops.aten.clone.default:
            copied.append(result.nbytes)
        return result


x = torch.empty({left}, dtype=torch.{dtype}, device="meta")
y = torch.empty({right}, dtype=torch.{dtype}, device="meta")
try:
    with Watch():
        z = x @ y
    print(tuple(z.shape), 2 * z.numel() * x.shape[-1], "FLOPs", sum(copied), "bytes copied")
except RuntimeError as error:
    print(error)
"""
_MASK: Final = """
import torch
from torch import nn
from torch.nn import functional as F

T = {length}
ones = torch.ones(T, T, dtype=torch.bool)
real = (torch.arange(T) < {num_real}).expand(T, T)  # as a padding mask: True for real tokens
mask = {expression}
zeros = torch.zeros(1, T, T)  # equal scores
{call}
print(weights)
print(int(weights.isnan().any(-1).sum()), "rows are NaN")
"""
_CALLS: Final = {
    "sdpa": "weights = F.scaled_dot_product_attention(zeros, zeros, torch.eye(T)[None], mask)[0]",
    "mha": "attention = nn.MultiheadAttention(T, 1, batch_first=True)\n"
    "weights = attention(zeros, zeros, zeros, attn_mask=mask)[1][0].detach()",
    "softmax": 'weights = zeros[0].masked_fill(mask, float("-inf")).softmax(-1)',
}


def broadcast_code(shapes: Sequence[Shape], dtype: str) -> str:
    """Return code that broadcasts tensors of these shapes, without data."""
    return _BROADCAST.format(shapes=", ".join(map(str, shapes)), dtype=dtype)


def matmul_code(left: Shape, right: Shape, dtype: str) -> str:
    """Return code that multiplies two tensors without data and adds up what torch copies."""
    return _MATMUL.format(left=tuple(left), right=tuple(right), dtype=dtype)


def mask_expression(spec: MaskSpec) -> str:
    """Return a mask as it is written: `~ones.tril(-1)`."""
    call = "real" if spec.kind == "padding" else f"ones.{spec.kind}({spec.amount or ''})"
    return f"~{call}" if spec.inverted else call


def mask_code(spec: MaskSpec) -> str:
    return _MASK.format(
        length=spec.length,
        num_real=spec.num_real,
        expression=mask_expression(spec),
        call=_CALLS[spec.route],
    )
