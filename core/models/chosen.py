"""Any model that can be looked at, by what describes it: its tree, and FLOPs of its modules."""

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Final

import torch
from torch import nn

from core.models.describe import ModelTree, describe
from core.models.gpt import GPT
from core.models.module_flops import TOKENS, count_flops
from core.models.repeated import Change, describe_gpt, describe_spec, one_of_each
from core.models.small import SMALL, make
from core.models.spec import GPTShape, ModelSpec

Source = GPTShape | ModelSpec | str  # our GPT, an architecture, or the key of a small module
FFN_RATIOS: Final[Mapping[str, Fraction]] = {
    "8/3": Fraction(8, 3),  # Llama-2: three matrices of 8/3 weigh as much as two of 4
    "3.5": Fraction(7, 2),  # Llama-3 8B and 70B
    "4": Fraction(4),
}
_FFN_MULTIPLE: Final = 256


def llama_like(
    *,
    num_layers: int,
    hidden_dim: int,
    num_heads: int,
    num_kv_heads: int,
    vocab_size: int,
    ffn_ratio: Fraction = FFN_RATIOS["8/3"],
) -> ModelSpec:
    """Return a Llama of these sizes, its SwiGLU so many times as wide, rounded up to 256."""
    ffn_dim = math.ceil(hidden_dim * ffn_ratio / _FFN_MULTIPLE) * _FFN_MULTIPLE
    return ModelSpec(
        name="Llama",
        num_layers=num_layers,
        hidden_dim=hidden_dim,
        num_heads=num_heads,
        num_kv_heads=num_kv_heads,
        head_dim=hidden_dim // num_heads,
        ffn_dim=ffn_dim,
        vocab_size=vocab_size,
        seq_len=4096,
    )


def tree_of(source: Source, change: Change = lambda _module: None) -> ModelTree:
    """Return the folded tree; large models are built on meta, one block of each kind.

    Args:
        source: Which model.
        change: Called with the module before it is read: adapters, `requires_grad`.
    """
    if isinstance(source, GPTShape):
        return describe_gpt(source, change)
    if isinstance(source, ModelSpec):
        return describe_spec(source, change)
    module = make(source)
    change(module)
    return describe(module)


def flops_of(source: Source) -> Mapping[str, int]:
    """Return FLOPs by module of a forward pass: of `TOKENS` tokens, or of a small module's input.

    Each folded block is counted once.
    """
    if isinstance(source, str):
        return count_flops(make(source), torch.zeros(SMALL[source].input_shape))
    return count_flops(_one_block(source), torch.zeros(1, TOKENS, dtype=torch.long, device="meta"))


def _one_block(source: GPTShape | ModelSpec) -> nn.Module:
    """Return a language model on meta with one block of each kind, long enough to be counted."""
    if isinstance(source, ModelSpec):
        return one_of_each(source)
    with torch.device("meta"):
        return GPT(replace(source, num_layers=1, seq_len=max(source.seq_len, TOKENS)))
