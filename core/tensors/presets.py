"""Programs to begin with: what tutorials show, and what language models do, at two sizes.

At toy size the tensors hold 0, 1, 2, ...; at full size they have no data (`meta`), and cost nothing.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import torch
from torch import Tensor

from core.language import N_

DTYPES: Final = {
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "int64": torch.int64,
    "bool": torch.bool,
    "complex64": torch.complex64,
}


@dataclass(frozen=True, slots=True)
class Given:
    """A tensor that a program begins with."""

    shape: tuple[int, ...]
    dtype: str = "float32"

    def counted(self) -> Tensor:
        """Return it with the values 0, 1, 2, ... in the order of its storage."""
        values = torch.arange(math.prod(self.shape), dtype=torch.float64)
        return values.to(DTYPES[self.dtype]).view(self.shape)

    def empty(self) -> Tensor:
        """Return it without data."""
        return torch.empty(self.shape, dtype=DTYPES[self.dtype], device="meta")


@dataclass(frozen=True, kw_only=True, slots=True)
class Preset:
    """A program with its tensors.

    Attributes:
        key: In links.
        title: What it shows.
        source: The program.
        toy: Its tensors, small enough to be drawn.
        full: The same at the size of a real model; empty where there is none.
        full_source: The program there, where sizes stand in it; empty if it is the same.
        of: Which model has these sizes.
    """

    key: str
    title: str
    source: str
    toy: Mapping[str, Given]
    full: Mapping[str, Given] = field(default_factory=dict)
    full_source: str = ""
    of: str = ""


_LLAMA_70B: Final = "Llama-2 70B"  # 64 query heads, 8 key-value heads of 128, Touvron et al. 2023
_LLAMA_3_8B: Final = "Llama-3 8B"  # vocabulary 128,256

PRESETS: Final = (
    Preset(
        key="transpose",
        title=N_("Transpose: the same storage, other strides"),
        source="x.t()",
        toy={"x": Given((4, 4))},
    ),
    Preset(
        key="refused",
        title=N_("A view that is refused"),
        source="y = x.t()\ny.view(6)",
        toy={"x": Given((2, 3))},
    ),
    Preset(
        key="contiguous",
        title=N_("contiguous() copies, then view() is free"),
        source="y = x.t()\ny.contiguous().view(6)",
        toy={"x": Given((2, 3))},
    ),
    Preset(
        key="uneven",
        title=N_("Not contiguous, and viewed all the same"),
        source="y = x[:, :3]\ny.view(2, 2, 3)",
        toy={"x": Given((4, 6))},
    ),
    Preset(
        key="slices",
        title=N_("Rows, columns and steps: offsets and strides"),
        source="row = x[1]\ncolumn = x[:, 1]\nx[:, ::2]",
        toy={"x": Given((4, 6))},
    ),
    Preset(
        key="expand",
        title=N_("expand: stride 0, nothing is copied"),
        source="x.expand(3, 4)",
        toy={"x": Given((3, 1))},
    ),
    Preset(
        key="heads",
        title=N_("Attention heads: split, transpose, merge"),
        source="q = x.view(2, 4, 2, 3).transpose(1, 2)\nq.transpose(1, 2).contiguous().view(2, 4, 6)",
        toy={"x": Given((2, 4, 6))},
        full={"x": Given((2, 128, 768))},
        full_source=(
            "q = x.view(2, 128, 12, 64).transpose(1, 2)\n"
            "q.contiguous().transpose(1, 2).contiguous().view(2, 128, 768)"
        ),
        of="GPT-2",
    ),
    Preset(
        key="merge",
        title=N_("Merging heads: why view refuses"),
        source="y = x.transpose(1, 2)\ny.view(2, 4, 6)",
        toy={"x": Given((2, 2, 4, 3))},
        full={"x": Given((2, 12, 128, 64))},
        full_source="y = x.transpose(1, 2)\ny.view(2, 128, 768)",
        of="GPT-2",
    ),
    Preset(
        key="shift",
        title=N_("Next-token loss: the shifted logits are copied"),
        source="logits[:, :-1].reshape(-1, 10)",
        toy={"logits": Given((2, 4, 10))},
        full={"logits": Given((8, 4096, 128256), "bfloat16")},
        full_source="logits[:, :-1].reshape(-1, 128256)",
        of=_LLAMA_3_8B,
    ),
    Preset(
        key="repeat_kv",
        title=N_("repeat_kv: grouped-query attention loses its saving"),
        source="e = k[:, :, None].expand(2, 2, 2, 4, 3)\ne.reshape(2, 4, 4, 3)",
        toy={"k": Given((2, 2, 4, 3))},
        full={"k": Given((1, 8, 8192, 128), "bfloat16")},
        full_source="e = k[:, :, None].expand(1, 8, 8, 8192, 128)\ne.reshape(1, 64, 8192, 128)",
        of=_LLAMA_70B,
    ),
    Preset(
        key="fused_qkv",
        title=N_("Fused QKV: three views of one product"),
        source="q, k, v = qkv.chunk(3, -1)\nk.view(2, 4, 4, 3)",
        toy={"qkv": Given((2, 4, 36))},
        full={"qkv": Given((8, 1024, 2304))},
        full_source="q, k, v = qkv.chunk(3, -1)\nk.view(8, 1024, 12, 64)",
        of="GPT-2",
    ),
    Preset(
        key="cache",
        title=N_("KV cache: the filled part is a view"),
        source="filled = cache[:, :, :3]\nfilled.view(4, 3, 3)",
        toy={"cache": Given((2, 2, 8, 3))},
        full={"cache": Given((8, 8, 8192, 128), "bfloat16")},
        full_source="filled = cache[:, :, :3000]\nfilled.view(64, 3000, 128)",
        of=_LLAMA_70B,
    ),
    Preset(
        key="mask",
        title=N_("A causal mask for every head: stride 0"),
        source="m = torch.ones(4, 4).tril()\nm[None, None].expand(2, 3, 4, 4)",
        toy={},
    ),
    Preset(
        key="scores",
        title=N_("Attention scores: two hidden copies"),
        source="q = x.view(2, 4, 2, 3).transpose(1, 2)\nq @ q.transpose(-2, -1)",
        toy={"x": Given((2, 4, 6))},
        full={"x": Given((2, 8192, 8192), "bfloat16")},
        full_source="q = x.view(2, 8192, 64, 128).transpose(1, 2)\nq @ q.transpose(-2, -1)",
        of=_LLAMA_70B,
    ),
    Preset(
        key="rotary",
        title=N_("RoPE: halves or pairs"),
        source="pairs = x.view(2, 4, 3, 2)\ntorch.view_as_complex(pairs)",
        toy={"x": Given((2, 4, 6))},
    ),
    Preset(
        key="gate",
        title=N_("SwiGLU: gate and value are views"),
        source="gate, value = x.view(2, 4, 2, 6).unbind(2)\nvalue",
        toy={"x": Given((2, 4, 12))},
    ),
    Preset(
        key="last_token",
        title=N_("The last token's logits are a view"),
        source="logits[:, -1]",
        toy={"logits": Given((2, 4, 10))},
        full={"logits": Given((8, 4096, 128256), "bfloat16")},
        of=_LLAMA_3_8B,
    ),
    Preset(
        key="windows",
        title=N_("Rolling windows that overlap"),
        source="x.unfold(0, 3, 1)",
        toy={"x": Given((7,))},
    ),
    Preset(
        key="channels_last",
        title=N_("channels_last: another order of the same shape"),
        source="x.contiguous(memory_format=torch.channels_last)",
        toy={"x": Given((2, 3, 2, 2))},
    ),
)
BY_KEY: Final[Mapping[str, Preset]] = {preset.key: preset for preset in PRESETS}
