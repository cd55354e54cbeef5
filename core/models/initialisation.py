"""Where weights start: schemes as rows, and what each does to activations and gradients by depth.

Measured on a real stack of layers; nothing is predicted. Shape letters: B batch, D width.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn

from core.language import N_
from core.models.chance import alone_with_chance

BATCH: Final = 64
BOUND_IN_SIGMAS: Final = 3.0
_BINS, _WIDEST = 60, 6.0  # of a histogram in standard deviations


@dataclass(frozen=True, slots=True)
class Scheme:
    """A way to draw a weight matrix (outputs, inputs), its standard deviation in symbols."""

    title: str  # marked for the catalogue
    code: str  # the call of torch that draws `w`, given `fan_in` and `num_layers`

    def draw(self, w: Tensor, num_layers: int) -> None:
        """Fill a matrix in place: what is shown is what runs."""
        names = {"w": w, "nn": nn, "fan_in": w.shape[1], "num_layers": num_layers}
        exec(self.code, names)  # noqa: S102  a row of this file


# Torch's nn.Embedding; LeCun et al. 1998; Glorot and Bengio 2010; He et al. 2015; Radford et al.
# 2019, as released, and its section 2.3; torch.nn.init.trunc_normal_.
SCHEMES: Final[Mapping[str, Scheme]] = {
    "unit": Scheme(N_("N(0, 1)"), "nn.init.normal_(w)"),
    "fan_in": Scheme(N_("N(0, 1/√fan_in)"), "nn.init.normal_(w, std=fan_in**-0.5)"),
    "xavier": Scheme(N_("Xavier"), "nn.init.xavier_normal_(w)"),
    "kaiming": Scheme(N_("Kaiming"), 'nn.init.kaiming_normal_(w, nonlinearity="relu")'),
    "gpt2": Scheme(N_("GPT-2"), "nn.init.normal_(w, std=0.02)"),
    "gpt2_residual": Scheme(
        N_("GPT-2, residual projections"), "nn.init.normal_(w, std=0.02 * (2 * num_layers) ** -0.5)"
    ),
    "truncated": Scheme(
        N_("Truncated normal, ±3σ"),
        "s = fan_in**-0.5; nn.init.trunc_normal_(w, std=s, a=-3 * s, b=3 * s)",
    ),
}
ACTIVATIONS: Final[Mapping[str, Callable[[Tensor], Tensor]]] = {
    "none": lambda x: x,
    "relu": torch.relu,
    "tanh": torch.tanh,
    "gelu": nn.functional.gelu,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Stack:
    """What is measured: so many layers of (D, D), with or without a residual stream."""

    scheme: str = "unit"
    num_layers: int = 16
    width: int = 256  # D
    activation: str = "relu"
    residual: bool = False  # whether each layer adds to what it read


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread:
    """Standard deviations, the input's first, then layer by layer."""

    activations: tuple[float, ...]
    gradients: tuple[float, ...]  # with respect to them; the last is that of the output, 1


def measure_spread(stack: Stack) -> Spread:
    """Run the stack forward and backward once and return the spread at every layer."""
    with alone_with_chance():
        scheme, act = SCHEMES[stack.scheme], ACTIVATIONS[stack.activation]
        h = torch.randn(BATCH, stack.width, requires_grad=True)
        reached = [h]
        for _layer in range(stack.num_layers):
            w = torch.empty(stack.width, stack.width)
            scheme.draw(w, stack.num_layers)
            out = act(h @ w.T)
            h = h + out if stack.residual else out
            reached.append(h)
        gradients = torch.autograd.grad(h, reached, torch.randn_like(h))
    return Spread(
        activations=tuple(each.detach().std().item() for each in reached),
        gradients=tuple(each.std().item() for each in gradients),
    )


def product_spread(fan_in: int) -> Mapping[str, float]:
    """Return the standard deviation of x @ w for w of N(0, 1) and of N(0, 1/√fan_in)."""
    with alone_with_chance():
        x, w = torch.randn(BATCH, fan_in), torch.randn(fan_in, 32)
        y = x @ w
    return {"unit": y.std().item(), "fan_in": (y / math.sqrt(fan_in)).std().item()}


@dataclass(frozen=True, kw_only=True, slots=True)
class Truncation:
    """What a bound of `trunc_normal_` does."""

    std: float  # what was asked for
    bound: float  # as it was passed
    largest: float  # value drawn, in standard deviations
    edges: tuple[float, ...]  # of the bins of its histogram, in standard deviations
    counts: tuple[int, ...]

    @property
    def bound_in_sigmas(self) -> float:
        """The bound in standard deviations."""
        return self.bound / self.std


def truncation(fan_in: int, *, in_sigmas: bool) -> Truncation:
    """Draw a million weights of N(0, 1/√fan_in), cut at ±3, the numbers or the deviations."""
    std = fan_in**-0.5
    bound = BOUND_IN_SIGMAS * std if in_sigmas else BOUND_IN_SIGMAS
    with alone_with_chance():
        w = nn.init.trunc_normal_(torch.empty(1000, 1000), std=std, a=-bound, b=bound)
    counts, edges = torch.histogram(w / std, bins=_BINS, range=(-_WIDEST, _WIDEST))
    return Truncation(
        std=std, bound=bound, largest=w.abs().max().item() / std,
        edges=tuple(edges.tolist()), counts=tuple(map(int, counts.tolist())),
    )  # fmt: skip
