"""Norms, rotary positions, and how tokens look at each other: grouped-query and latent attention.

Touvron et al. 2023 (Llama, Llama 2). With biases, q/k norms and a head width of its own the same
parts make Qwen, Mistral, Phi and Gemma. In latent attention keys and values pass through one narrow
vector (DeepSeek-V2, 2024).

Shape letters: B batch, T tokens, C width, H query heads, K key heads, D width of a head's query and
key.
"""

import torch
from torch import Tensor, nn

from core.language import _
from core.models.kernels import Kernels
from core.models.spec import Indexer, ModelSpec

ROTARY_BASE = 10_000.0
Rotary = tuple[Tensor, Tensor]  # cosines and sines, each (T, D)


class RMSNorm(nn.Module):
    """Divide by the root mean square, times a weight per channel (Zhang and Sennrich 2019)."""

    def __init__(self, width: int, kernels: Kernels) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.kernels = kernels

    def forward(self, x: Tensor) -> Tensor:
        """Norm the last axis."""
        return self.kernels.rms_norm(x, self.weight)


def make_norm(spec: ModelSpec, kernels: Kernels) -> nn.Module:
    """Return the norm of the residual stream that the spec asks for."""
    if spec.norm == "rms":
        return RMSNorm(spec.hidden_dim, kernels)
    return nn.LayerNorm(spec.hidden_dim, bias=spec.norm_bias)


def rotary_angles(num_tokens: int, width: int, like: Tensor) -> Rotary:
    """Return cosines and sines of every position, (T, D) each (Su et al. 2021, RoFormer).

    Raises:
        ValueError: If the width is odd.
    """
    if width % 2:
        raise ValueError(
            _("Rotary positions turn channels in pairs, and {width} is odd; choose {even}.").format(
                width=width, even=width + 1
            )
        )
    channels = torch.arange(0, width, 2, device=like.device, dtype=torch.float32)
    positions = torch.arange(num_tokens, device=like.device, dtype=torch.float32)
    half = torch.outer(positions, ROTARY_BASE ** (-channels / width))  # (T, D / 2)
    angles = torch.cat((half, half), dim=-1)  # (T, D)
    return angles.cos().to(like.dtype), angles.sin().to(like.dtype)


def rotate(x: Tensor, rotary: Rotary | None) -> Tensor:
    """Turn each pair of channels by the angle of its position, if it has one; x is (B, H, T, D)."""
    if rotary is None:
        return x
    cosines, sines = rotary
    first, second = x.chunk(2, dim=-1)
    return x * cosines + torch.cat((-second, first), dim=-1) * sines


class GroupedAttention(nn.Module):
    """Causal attention where groups of query heads share a key and value head (GQA).

    As many key heads as query heads is multi-head attention, one is multi-query attention. Sinks
    are held, so that the parameters are all there; torch's kernels take none.
    """

    def __init__(self, spec: ModelSpec, kernels: Kernels) -> None:
        super().__init__()
        self.kernels, self.head_dim = kernels, spec.head_dim
        queries, keys = spec.num_heads * spec.head_dim, spec.num_kv_heads * spec.head_dim
        bias = spec.attention_bias != "none"
        self.q = nn.Linear(spec.hidden_dim, queries, bias=bias)
        self.k = nn.Linear(spec.hidden_dim, keys, bias=bias)
        self.v = nn.Linear(spec.hidden_dim, keys, bias=bias)
        self.o = nn.Linear(queries, spec.hidden_dim, bias=spec.attention_bias == "all")
        self.norms_all_heads = spec.qk_norm_over == "all heads"
        widths = (queries, keys) if self.norms_all_heads else (spec.head_dim, spec.head_dim)
        self.q_norm, self.k_norm = (
            RMSNorm(width, kernels) if spec.qk_norm else nn.Identity() for width in widths
        )
        self.sinks = nn.Parameter(torch.zeros(spec.num_heads)) if spec.sinks else None

    def forward(self, x: Tensor, rotary: Rotary | None) -> Tensor:
        """Mix tokens; x and the result are (B, T, C)."""
        q, k = self._normed(self.q_norm, self.q(x)), self._normed(self.k_norm, self.k(x))
        q, k = rotate(q, rotary), rotate(k, rotary)  # (B, H, T, D), (B, K, T, D)
        mixed = self.kernels.attend(q, k, self._heads(self.v(x)))
        projected: Tensor = self.o(mixed.permute(0, 2, 1, 3).flatten(2))
        return projected

    def _normed(self, norm: nn.Module, x: Tensor) -> Tensor:
        if self.norms_all_heads:
            return self._heads(norm(x))
        normed: Tensor = norm(self._heads(x))
        return normed

    def _heads(self, x: Tensor) -> Tensor:
        return _in_heads(x, x.shape[-1] // self.head_dim)


def _in_heads(x: Tensor, num_heads: int) -> Tensor:
    """Cut the last axis into heads: (B, T, H * D) to (B, H, T, D)."""
    heads: Tensor = x.unflatten(-1, (num_heads, -1))
    return heads.permute(0, 2, 1, 3)


class IndexScores(nn.Module):
    """What scores earlier tokens for each query (DeepSeek-V3.2, 2025, equation 1)."""

    def __init__(self, spec: ModelSpec, indexer: Indexer, query_rank: int) -> None:
        super().__init__()
        self.num_heads = indexer.num_heads
        self.q = nn.Linear(query_rank, indexer.num_heads * indexer.head_dim, bias=False)
        self.k = nn.Linear(spec.hidden_dim, indexer.head_dim, bias=False)
        self.k_norm = nn.LayerNorm(indexer.head_dim)
        self.weights = nn.Linear(spec.hidden_dim, indexer.num_heads, bias=False)

    def forward(self, x: Tensor, narrow: Tensor) -> Tensor:
        """Return (B, T, S) scores of (B, T, C) tokens with (B, T, R) compressed queries."""
        q = _in_heads(self.q(narrow), self.num_heads)
        scores = (q @ self.k_norm(self.k(x)).unsqueeze(1).transpose(-2, -1)).relu()  # (B, H, T, S)
        weighed: Tensor = scores * self.weights(x).permute(0, 2, 1).unsqueeze(-1)
        return weighed.sum(1)


class LatentMixer(nn.Module):
    """Causal attention whose cache is the narrow vector and one rotary key for all heads.

    With an indexer it attends to all tokens all the same, as DeepSeek-V3.2 does while the indexer
    is warmed up: its parameters are there, its scores are a module of their own.

    Raises:
        ValueError: If the spec has no latent attention.
    """

    def __init__(self, spec: ModelSpec, kernels: Kernels) -> None:
        super().__init__()
        if spec.latent is None:
            raise ValueError(f"{spec.name} has no latent attention")
        sizes = self.sizes = spec.latent
        self.kernels, self.num_heads = kernels, spec.num_heads
        query = spec.num_heads * (sizes.nope_dim + sizes.rope_dim)
        rank = sizes.query_rank
        self.q_down = nn.Linear(spec.hidden_dim, rank, bias=False) if rank else nn.Identity()
        self.q_norm = RMSNorm(rank, kernels) if rank else nn.Identity()
        self.q_up = nn.Linear(rank or spec.hidden_dim, query, bias=False)
        self.kv_down = nn.Linear(spec.hidden_dim, sizes.kv_rank + sizes.rope_dim, bias=False)
        self.kv_norm = RMSNorm(sizes.kv_rank, kernels)
        wide = spec.num_heads * (sizes.nope_dim + sizes.value_dim)
        self.kv_up = nn.Linear(sizes.kv_rank, wide, bias=False)
        self.o = nn.Linear(spec.num_heads * sizes.value_dim, spec.hidden_dim, bias=False)
        self.indexer = IndexScores(spec, spec.indexer, rank) if spec.indexer else None

    def forward(self, x: Tensor, rotary: Rotary | None) -> Tensor:
        """Mix tokens; x and the result are (B, T, C)."""
        q = self._queries(x, rotary)  # (B, H, T, D)
        k, v = self._keys_values(x, rotary)
        narrow = v.shape[-1]
        v = nn.functional.pad(v, (0, q.shape[-1] - narrow))  # flash kernels want one width
        mixed = self.kernels.attend(q, k, v)[..., :narrow]
        projected: Tensor = self.o(mixed.permute(0, 2, 1, 3).flatten(2))
        return projected

    def _queries(self, x: Tensor, rotary: Rotary | None) -> Tensor:
        q = _in_heads(self.q_up(self.q_norm(self.q_down(x))), self.num_heads)
        plain, turned = q.split((self.sizes.nope_dim, self.sizes.rope_dim), -1)
        return torch.cat((plain, rotate(turned, rotary)), -1)

    def _keys_values(self, x: Tensor, rotary: Rotary | None) -> tuple[Tensor, Tensor]:
        sizes = self.sizes
        latent, shared = self.kv_down(x).split((sizes.kv_rank, sizes.rope_dim), -1)
        wide = _in_heads(self.kv_up(self.kv_norm(latent)), self.num_heads)
        plain, v = wide.split((sizes.nope_dim, sizes.value_dim), -1)
        turned = rotate(shared.unsqueeze(1), rotary).expand(-1, self.num_heads, -1, -1)
        return torch.cat((plain, turned), -1), v
