"""How each token thinks for itself: two matrices, three with a gate, or a mixture of experts.

A mixture's router sends each token to a few of many feed-forward layers.

Shape letters: B batch, T tokens, N tokens of the batch, C width, E experts, k experts of one token,
R rows of one expert, F width of an expert.
"""

import torch
from torch import Tensor, nn

from core.models.gpt import INIT_STD
from core.models.kernels import Kernels
from core.models.spec import Mixture


class FeedForward(nn.Module):
    """down(gelu(up(x))): two matrices (Radford et al. 2019)."""

    def __init__(self, hidden_dim: int, ffn_dim: int, kernels: Kernels, *, bias: bool) -> None:
        super().__init__()
        self.kernels = kernels
        self.up = nn.Linear(hidden_dim, ffn_dim, bias=bias)
        self.down = nn.Linear(ffn_dim, hidden_dim, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """Transform each token; x and the result are (B, T, C)."""
        result: Tensor = self.down(self.kernels.gelu(self.up(x)))
        return result


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


class MixtureOfExperts(nn.Module):
    """The experts that the router picks, weighted by its probabilities, and the shared ones.

    Every expert takes equally many tokens, as a router in balance gives them (the last rows are
    padding where E does not divide N * k). What is counted does not depend on who goes where.
    """

    def __init__(self, hidden_dim: int, mixture: Mixture, kernels: Kernels) -> None:
        super().__init__()
        self.mixture, self.kernels = mixture, kernels
        experts, inner = mixture.num_experts, mixture.expert_dim
        self.router = nn.Linear(hidden_dim, experts, bias=mixture.bias)
        self.gate = nn.Parameter(INIT_STD * torch.randn(experts, hidden_dim, inner))
        self.up = nn.Parameter(INIT_STD * torch.randn(experts, hidden_dim, inner))
        self.down = nn.Parameter(INIT_STD * torch.randn(experts, inner, hidden_dim))
        self.biases = _expert_biases(hidden_dim, mixture) if mixture.bias else None
        shared = mixture.num_shared * inner
        self.shared = SwiGLU(hidden_dim, shared, kernels, bias=False) if shared else None

    def forward(self, x: Tensor) -> Tensor:
        """Transform each token; x and the result are (B, T, C)."""
        tokens = x.flatten(0, 1)  # (N, C)
        probabilities = self.router(tokens).softmax(-1, dtype=torch.float32)  # (N, E)
        weights, chosen = probabilities.topk(self.mixture.experts_per_token, dim=-1)  # (N, k)
        mixed = self._experts(tokens, chosen, weights.to(x.dtype)).view_as(x)
        return mixed if self.shared is None else mixed + self.shared(x)

    def _experts(self, tokens: Tensor, chosen: Tensor, weights: Tensor) -> Tensor:
        num_rows = chosen.numel()  # N * k
        padded = -(-num_rows // self.mixture.num_experts) * self.mixture.num_experts
        order = chosen.flatten().argsort()  # rows by expert
        order = torch.cat((order, order[: padded - num_rows])) if padded > num_rows else order
        rows = tokens.index_select(0, order // chosen.shape[1])
        rows = rows.view(self.mixture.num_experts, -1, tokens.shape[1])  # (E, R, C)
        inner = self.kernels.gate(self._product(rows, "gate"), self._product(rows, "up"))
        out = self._product(inner, "down").flatten(0, 1)  # (E * R, C)
        back = out.index_select(0, order[:num_rows].argsort()).view(*chosen.shape, -1)  # (N, k, C)
        return (back * weights.unsqueeze(-1)).sum(1)

    def _product(self, rows: Tensor, name: str) -> Tensor:
        matrices: Tensor = getattr(self, name)
        if self.biases is None:
            return torch.bmm(rows, matrices)
        return torch.baddbmm(self.biases[name].unsqueeze(1), rows, matrices)


def _expert_biases(hidden_dim: int, mixture: Mixture) -> nn.ParameterDict:
    """Return a bias for each expert's gate, up and down matrix."""
    widths = {"gate": mixture.expert_dim, "up": mixture.expert_dim, "down": hidden_dim}
    return nn.ParameterDict(
        {
            name: nn.Parameter(torch.zeros(mixture.num_experts, width))
            for name, width in widths.items()
        }
    )
