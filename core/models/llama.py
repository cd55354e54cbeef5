"""The parts of a Llama-like model: RMSNorm, rotary positions, grouped-query attention, SwiGLU.

Touvron et al. 2023 (Llama, Llama 2). With biases, q/k norms and a head width of its own the same
parts make Qwen, Mistral, Phi and Gemma.

Shape letters: B batch, T tokens, C width, H query heads, K key heads, D head width.
"""

import torch
from einops import rearrange
from torch import Tensor, nn

from core.models.kernels import Kernels
from core.models.spec import ModelSpec

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


def rotary_angles(num_tokens: int, width: int, like: Tensor) -> Rotary:
    """Return cosines and sines of every position, (T, D) each (Su et al. 2021, RoFormer)."""
    channels = torch.arange(0, width, 2, device=like.device, dtype=torch.float32)
    positions = torch.arange(num_tokens, device=like.device, dtype=torch.float32)
    half = torch.outer(positions, ROTARY_BASE ** (-channels / width))  # (T, D / 2)
    angles = torch.cat((half, half), dim=-1)  # (T, D)
    return angles.cos().to(like.dtype), angles.sin().to(like.dtype)


def rotate(x: Tensor, rotary: Rotary) -> Tensor:
    """Turn each pair of channels by the angle of its position; x is (B, H, T, D)."""
    cosines, sines = rotary
    first, second = x.chunk(2, dim=-1)
    return x * cosines + torch.cat((-second, first), dim=-1) * sines


class GroupedAttention(nn.Module):
    """Causal attention where groups of query heads share a key and value head (GQA).

    As many key heads as query heads is multi-head attention, one is multi-query attention.
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
        self.q_norm = RMSNorm(spec.head_dim, kernels) if spec.qk_norm else nn.Identity()
        self.k_norm = RMSNorm(spec.head_dim, kernels) if spec.qk_norm else nn.Identity()

    def forward(self, x: Tensor, rotary: Rotary | None) -> Tensor:
        """Mix tokens; x and the result are (B, T, C)."""
        q, k = self.q_norm(self._heads(self.q(x))), self.k_norm(self._heads(self.k(x)))
        if rotary is not None:
            q, k = rotate(q, rotary), rotate(k, rotary)  # (B, H, T, D), (B, K, T, D)
        mixed = self.kernels.attend(q, k, self._heads(self.v(x)))
        projected: Tensor = self.o(rearrange(mixed, "B H T D -> B T (H D)"))
        return projected

    def _heads(self, x: Tensor) -> Tensor:
        return rearrange(x, "B T (H D) -> B H T D", D=self.head_dim)


class SwiGLU(nn.Module):
    """down(silu(gate(x)) * up(x)): three matrices (Shazeer 2020)."""

    def __init__(self, hidden_dim: int, ffn_dim: int, kernels: Kernels, *, bias: bool) -> None:
        super().__init__()
        self.kernels = kernels
        self.gate = nn.Linear(hidden_dim, ffn_dim, bias=bias)
        self.up = nn.Linear(hidden_dim, ffn_dim, bias=bias)
        self.down = nn.Linear(ffn_dim, hidden_dim, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """Transform each token; x and the result are (B, T, C)."""
        result: Tensor = self.down(self.kernels.gate(self.gate(x), self.up(x)))
        return result
