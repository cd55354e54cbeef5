"""Attention in four steps, as the formula has them: what a kernel does in one, and does not keep.

softmax(q k^T / sqrt(D) + mask) v (Vaswani et al. 2017, equation 1). On the way stand two tensors of
T x T numbers a head, which a tiled kernel never writes (Dao et al. 2022).

Shape letters: B batch, H heads, T queries, S keys, D head width.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True, slots=True)
class AttentionSteps:
    """Every tensor on the way."""

    scores: Tensor  # (B, H, T, S) how well each query fits each key
    keep: Tensor  # (T, S) True where a token may look: at itself and at what came before
    masked: Tensor  # (B, H, T, S) the scores, -inf where it may not
    weights: Tensor  # (B, H, T, S) each row sums to 1
    mixed: Tensor  # (B, H, T, D) the values, mixed by these weights


def attention_steps(q: Tensor, k: Tensor, v: Tensor) -> AttentionSteps:
    """Take causal attention apart; q is (B, H, T, D), k and v are (B, H, S, D) with S = T."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    keep = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril()
    masked = scores.masked_fill(~keep, -math.inf)
    weights = masked.softmax(dim=-1)
    mixed = weights @ v
    return AttentionSteps(scores=scores, keep=keep, masked=masked, weights=weights, mixed=mixed)
