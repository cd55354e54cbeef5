"""Programs to begin with: what tutorials show, and what language models do.

Each works on one tensor, `x`. Where a row names a model, the tensor has the size that it has there.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from core.expressions import MATERIALIZED, ON_META, Limits
from core.language import N_, _

DTYPES: Final[Mapping[str, torch.dtype]] = {
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "int64": torch.int64,
    "uint8": torch.uint8,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Preset:
    """A program and its tensor.

    Attributes:
        key: In links.
        title: What it shows.
        shape: Of `x`.
        source: The program.
        dtype: Of `x`.
        of: The model whose sizes these are; empty for a toy.
        model: Its key in `core.budget.catalogue.models`, where training with `batch` sequences of
            `seq` tokens makes this tensor; else empty.
        batch, seq: Of that training.
    """

    key: str
    title: str
    shape: tuple[int, ...]
    source: str
    dtype: str = "float32"
    of: str = ""
    model: str = ""
    batch: int = 0
    seq: int = 0


_GPT_2: Final = "GPT-2"  # Radford et al. 2019: 12 heads of 64
# Grattafiori et al. 2024: 8,192 tokens; 70B has 64 query heads and 8 KV heads of 128, and both have
# 128,256 tokens in the vocabulary.
_LLAMA_70B: Final = "Llama-3 70B"
_OURS: Final = N_("the small GPT of Live training")  # 4 heads of 16, 64 tokens
_LLAMA_8B: Final = "Llama-3 8B"
_NAMED_QKV: Final = """\
q, k, v = rearrange(x, "B T (three H D) -> three B H T D", three=3, H=4).unbind(0)
q @ k.transpose(-2, -1)"""

# fmt: off
PRESETS: Final = (
    Preset(key="transpose", title=N_("Transpose: same storage, other strides"), shape=(4, 4),
           source="x.t()"),
    Preset(key="refused", title=N_("A view that is refused"), shape=(2, 3),
           source="y = x.t()\ny.view(6)"),
    Preset(key="contiguous", title=N_("contiguous() copies, then view() is free"), shape=(2, 3),
           source="y = x.t()\ny.contiguous().view(6)"),
    Preset(key="uneven", title=N_("Not contiguous, and viewed all the same"), shape=(4, 6),
           source="y = x[:, :3]\ny.view(2, 2, 3)"),
    Preset(key="slices", title=N_("Rows, columns and steps: offset and stride"), shape=(4, 6),
           source="row = x[1]\ncolumn = x[:, 1]\nx[1:, ::2]"),
    Preset(key="expand", title=N_("expand: stride 0, nothing is copied"), shape=(3, 1),
           source="x.expand(3, 4)"),
    Preset(key="heads", title=N_("Attention heads: split, transpose, merge"), shape=(2, 4, 6),
           source="q = x.view(2, 4, 2, 3).transpose(1, 2)\nq.contiguous().view(2, 2, 12)"),
    Preset(key="heads_gpt2", title=N_("Attention heads"), shape=(2, 128, 768),
           source="q = x.view(2, 128, 12, 64).transpose(1, 2)\nq.contiguous()", of=_GPT_2,
           model="gpt2", batch=2, seq=128),
    Preset(key="merge", title=N_("Merging heads: why view refuses"), shape=(2, 12, 128, 64),
           source="y = x.transpose(1, 2)\ny.view(2, 128, 768)", of=_GPT_2, model="gpt2", batch=2,
           seq=128),
    Preset(key="shift", title=N_("Next-token loss: the shifted logits are copied"),
           shape=(2, 4, 10), source="logits = x\nlogits[:, :-1].reshape(-1, 10)"),
    Preset(key="shift_8b", title=N_("Next-token loss"), shape=(8, 4096, 128256),
           source="logits = x\nlogits[:, :-1].reshape(-1, 128256)", dtype="bfloat16", of=_LLAMA_8B,
           model="llama-3-8b", batch=8, seq=4096),
    Preset(key="repeat_kv", title=N_("repeat_kv: grouped-query attention copies K and V"),
           shape=(2, 2, 4, 3),
           source="e = x[:, :, None].expand(2, 2, 2, 4, 3)\ne.reshape(2, 4, 4, 3)"),
    Preset(key="repeat_kv_70b", title=N_("repeat_kv"), shape=(1, 8, 8192, 128),
           source="e = x[:, :, None].expand(1, 8, 8, 8192, 128)\ne.reshape(1, 64, 8192, 128)",
           dtype="bfloat16", of=_LLAMA_70B, model="llama-3-70b", batch=1, seq=8192),
    Preset(key="fused_qkv", title=N_("Fused QKV: three views of one product"), shape=(2, 4, 18),
           source="q, k, v = x.chunk(3, -1)\nk.view(2, 4, 2, 3)"),
    Preset(key="own_qkv", title=N_("q, k and v by name: views of one product"), shape=(1, 64, 192),
           source=_NAMED_QKV, of=_OURS),
    Preset(key="own_weight", title=N_("A linear layer reads its weight transposed"),
           shape=(192, 64), source="weight = x\nq, k, v = weight.chunk(3)\nweight.t()", of=_OURS),
    Preset(key="cache", title=N_("KV cache: the filled part is a view"), shape=(2, 2, 8, 3),
           source="filled = x[:, :, :3]\nfilled.view(4, 3, 3)"),
    Preset(key="mask", title=N_("A causal mask for every head: stride 0"), shape=(4, 4),
           source="m = x.tril()\nm[None, None].expand(2, 3, 4, 4)"),
    Preset(key="scores", title=N_("Attention scores: two hidden copies"), shape=(2, 4, 6),
           source="q = x.view(2, 4, 2, 3).transpose(1, 2)\nq @ q.transpose(-2, -1)"),
    Preset(key="scores_70b", title=N_("Attention scores"), shape=(2, 8192, 8192),
           source="q = x.view(2, 8192, 64, 128).transpose(1, 2)\nq @ q.transpose(-2, -1)",
           dtype="bfloat16", of=_LLAMA_70B, model="llama-3-70b", batch=2, seq=8192),
    Preset(key="gate", title=N_("SwiGLU: gate and value are views"), shape=(2, 4, 12),
           source="gate, value = x.view(2, 4, 2, 6).unbind(2)\nvalue"),
    Preset(key="last_token", title=N_("The last token's logits are a view"), shape=(2, 4, 10),
           source="logits = x\nlogits[:, -1]"),
    Preset(key="windows", title=N_("Rolling windows that overlap"), shape=(7,),
           source="x.unfold(0, 3, 1)"),
    Preset(key="channels_last", title=N_("channels_last: another order of the same shape"),
           shape=(2, 3, 2, 2), source="x.contiguous(memory_format=torch.channels_last)"),
)
# What is written through views and into copies, what is refused, what goes wrong silently.
WRITE_PRESETS: Final = (
    Preset(key="transpose", title=N_("Write through a transpose"),
           shape=(2, 3), source="y = x.t()\ny[0, 1] = 100"),
    Preset(key="four", title=N_("One write, four views"),
           shape=(2, 3),
           source="row = x[0]\ncolumn = x[:, 1]\ny = x.view(3, 2)\nz = x.t()\nx[0, 1] = 100"),
    Preset(key="list", title=N_("Write into what a list of columns gave"),
           shape=(2, 3), source="y = x[:, [0, 2]]\ny[0, 1] = 100"),
    Preset(key="mask", title=N_("x[mask] = 0 writes, x[mask] alone copies"),
           shape=(2, 3), source="y = x[x > 2]\nx[x > 2] = 0"),
    Preset(key="reshape", title=N_("reshape: once a view, once a copy"),
           shape=(2, 3), source="y = x.reshape(6)\nz = x.t().reshape(6)\nx[0, 1] = 100"),
    Preset(key="same", title=N_("contiguous() may return the tensor itself"),
           shape=(2, 3), source="y = x.contiguous()\nz = x.clone()\ny.mul_(10)"),
    Preset(key="bits", title=N_("The same bytes as another dtype"),
           shape=(2, 3), source="y = x.view(torch.int32)\ny[0, 0] = 1065353216"),
    Preset(key="row", title=N_("One write into an expanded row"),
           shape=(2, 1), source="y = x.expand(2, 3)\ny[0, 0] = 100"),
    Preset(key="refused", title=N_("Refused: writing through stride 0"),
           shape=(2, 1), source="y = x.expand(2, 3)\ny.add_(1)"),
    Preset(key="overlap", title=N_("Not refused, and wrong: windows that overlap"),
           shape=(7,), source="y = x.unfold(0, 3, 1)\ny.add_(1)"),
)
# fmt: on
BY_KEY: Final[Mapping[str, Preset]] = {preset.key: preset for preset in PRESETS}
WRITE_BY_KEY: Final[Mapping[str, Preset]] = {preset.key: preset for preset in WRITE_PRESETS}


def counted(shape: Sequence[int], dtype: str = "float32") -> Tensor:
    """Return a tensor that holds 0, 1, 2, ... in the order of its storage.

    In a narrow dtype the numbers are rounded, or begin again.
    """
    values = torch.arange(math.prod(shape), dtype=torch.int64)
    return values.to(DTYPES[dtype]).view(tuple(shape))


def without_data(shape: Sequence[int], dtype: str = "float32") -> Tensor:
    """Return a tensor of any size that has no data, and costs nothing.

    Raises:
        ValueError: If its bytes are more than an int64 can count.
    """
    num_bytes = math.prod(shape) * DTYPES[dtype].itemsize
    if num_bytes >= 2**63:
        message = _("The tensor would have {count} bytes; sizes end below 2**63.")
        raise ValueError(message.format(count=f"{num_bytes:,}"))
    return torch.empty(tuple(shape), dtype=DTYPES[dtype], device="meta")


def tensors_of(
    shapes: Mapping[str, Sequence[int]], dtype: str, *, is_small: bool
) -> tuple[dict[str, Tensor], Limits]:
    """Return tensors by name, with data only if they are small, and the limits of a program."""
    make, limits = (counted, MATERIALIZED) if is_small else (without_data, ON_META)
    return {name: make(shape, dtype) for name, shape in shapes.items()}, limits


def given(shape: Sequence[int], dtype: str = "float32") -> tuple[Tensor, Limits]:
    """Return `x` and the limits of a program on it: with data as long as it is small enough."""
    is_small = math.prod(shape) <= MATERIALIZED.num_elements
    tensors, limits = tensors_of({"x": shape}, dtype, is_small=is_small)
    return tensors["x"], limits
