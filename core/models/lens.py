"""What a GPT holds inside: attention weights, and what its head would say after every block.

Logit lens: nostalgebraist 2020, "interpreting GPT: the logit lens".

Shape letters: L layers, H heads, T tokens, D head width, V vocabulary.
"""

from dataclasses import dataclass
from typing import cast

import torch
from einops import rearrange
from torch import Tensor

from core.models.gpt import GPT, Block


@dataclass(frozen=True, kw_only=True, slots=True)
class Inside:
    """One forward pass: `maps` (L, H, T, T) and `lens` (L + 1, T, V)."""

    maps: Tensor
    lens: Tensor


@torch.no_grad()
def inside(model: GPT, token_ids: Tensor) -> Inside:
    """Return attention weights and logit lens of one pass over token ids (T,)."""
    x = model.tokens(token_ids) + model.positions(torch.arange(len(token_ids)))
    maps, stream = [], [x]
    future = torch.ones(len(token_ids), len(token_ids), dtype=torch.bool).triu(1)
    for each in model.blocks:
        block = cast("Block", each)
        heads = block.attention.num_heads
        qkv = block.attention.qkv(block.norm_1(x))
        q, k, _v = rearrange(qkv, "T (three H D) -> three H T D", three=3, H=heads)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        maps.append(scores.masked_fill(future, float("-inf")).softmax(-1))
        x = block(x[None])[0]
        stream.append(x)
    lens = model.head(model.norm(torch.stack(stream)))
    return Inside(maps=torch.stack(maps), lens=lens)
