"""Multi-head latent attention: keys and values pass through one narrow vector (DeepSeek-V2, 2024).

Shape letters: B batch, T tokens, C width, H heads, D width of a head's query and key.
"""

import torch
from einops import rearrange
from torch import Tensor, nn

from core.models.kernels import Kernels
from core.models.llama import RMSNorm, Rotary, rotate
from core.models.spec import ModelSpec


class LatentMixer(nn.Module):
    """Causal attention whose cache is the narrow vector and one rotary key for all heads.

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

    def forward(self, x: Tensor, rotary: Rotary | None) -> Tensor:
        """Mix tokens; x and the result are (B, T, C)."""
        q = self._queries(x, rotary)  # (B, H, T, D)
        k, v = self._keys_values(x, rotary)
        narrow = v.shape[-1]
        v = nn.functional.pad(v, (0, q.shape[-1] - narrow))  # flash kernels want one width
        mixed = self.kernels.attend(q, k, v)[..., :narrow]
        projected: Tensor = self.o(rearrange(mixed, "B H T D -> B T (H D)"))
        return projected

    def _queries(self, x: Tensor, rotary: Rotary | None) -> Tensor:
        q = rearrange(
            self.q_up(self.q_norm(self.q_down(x))), "B T (H D) -> B H T D", H=self.num_heads
        )
        plain, turned = q.split((self.sizes.nope_dim, self.sizes.rope_dim), -1)
        return torch.cat((plain, _turn(turned, rotary)), -1)

    def _keys_values(self, x: Tensor, rotary: Rotary | None) -> tuple[Tensor, Tensor]:
        sizes = self.sizes
        latent, shared = self.kv_down(x).split((sizes.kv_rank, sizes.rope_dim), -1)
        wide = rearrange(self.kv_up(self.kv_norm(latent)), "B T (H D) -> B H T D", H=self.num_heads)
        plain, v = wide.split((sizes.nope_dim, sizes.value_dim), -1)
        turned = _turn(shared.unsqueeze(1), rotary).expand(-1, self.num_heads, -1, -1)
        return torch.cat((plain, turned), -1), v


def _turn(x: Tensor, rotary: Rotary | None) -> Tensor:
    return x if rotary is None else rotate(x, rotary)
