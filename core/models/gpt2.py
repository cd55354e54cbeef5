"""The parts of a GPT-2-like model: LayerNorm with bias, two matrices with a GELU between."""

from torch import Tensor, nn

from core.models.kernels import Kernels
from core.models.llama import RMSNorm
from core.models.spec import ModelSpec


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


def make_norm(spec: ModelSpec, kernels: Kernels) -> nn.Module:
    """Return the norm of the residual stream that the spec asks for."""
    if spec.norm == "rms":
        return RMSNorm(spec.hidden_dim, kernels)
    return nn.LayerNorm(spec.hidden_dim, bias=spec.norm_bias)
