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
GPT2_STD: Final = 0.02  # Radford et al. 2019, as released
BOUND_IN_SIGMAS: Final = 3.0
_BINS, _WIDEST = 60, 6.0  # of a histogram in standard deviations


@dataclass(frozen=True, kw_only=True, slots=True)
class Scheme:
    """A way to draw a weight matrix.

    Attributes:
        title: Marked for the catalogue.
        formula: Its standard deviation, in symbols.
        code: The call of torch that draws `w`, given `fan_in` and `num_layers`.
        draw: Fills a matrix (outputs, inputs) in place, given the number of layers.
        source: Where it comes from.
    """

    title: str
    formula: str
    code: str
    draw: Callable[[Tensor, int], object]
    source: str


SCHEMES: Final[Mapping[str, Scheme]] = {
    "unit": Scheme(
        title=N_("N(0, 1)"),
        formula="1",
        code="nn.init.normal_(w)",
        draw=lambda w, _depth: nn.init.normal_(w),
        source="torch.randn, nn.Embedding",
    ),
    "fan_in": Scheme(
        title=N_("N(0, 1/√fan_in)"),
        formula="1/√fan_in",
        code="nn.init.normal_(w, std=fan_in**-0.5)",
        draw=lambda w, _depth: nn.init.normal_(w, std=w.shape[1] ** -0.5),
        source="LeCun et al. 1998",
    ),
    "xavier": Scheme(
        title=N_("Xavier"),
        formula="√(2 / (fan_in + fan_out))",
        code="nn.init.xavier_normal_(w)",
        draw=lambda w, _depth: nn.init.xavier_normal_(w),
        source="Glorot and Bengio 2010",
    ),
    "kaiming": Scheme(
        title=N_("Kaiming"),
        formula="√(2 / fan_in)",
        code='nn.init.kaiming_normal_(w, nonlinearity="relu")',
        draw=lambda w, _depth: nn.init.kaiming_normal_(w, nonlinearity="relu"),
        source="He et al. 2015",
    ),
    "gpt2": Scheme(
        title=N_("GPT-2"),
        formula="0.02",
        code="nn.init.normal_(w, std=0.02)",
        draw=lambda w, _depth: nn.init.normal_(w, std=GPT2_STD),
        source="Radford et al. 2019",
    ),
    "gpt2_residual": Scheme(
        title=N_("GPT-2, residual projections"),
        formula="0.02/√(2L)",
        code="nn.init.normal_(w, std=0.02 * (2 * num_layers) ** -0.5)",
        draw=lambda w, depth: nn.init.normal_(w, std=GPT2_STD / math.sqrt(2 * depth)),
        source="Radford et al. 2019, section 2.3",
    ),
    "truncated": Scheme(
        title=N_("Truncated normal, ±3σ"),
        formula="1/√fan_in",
        code="s = fan_in**-0.5; nn.init.trunc_normal_(w, std=s, a=-3 * s, b=3 * s)",
        draw=lambda w, _depth: draw_truncated(w, w.shape[1] ** -0.5, BOUND_IN_SIGMAS),
        source="torch.nn.init.trunc_normal_",
    ),
}
ACTIVATIONS: Final[Mapping[str, Callable[[Tensor], Tensor]]] = {
    "none": lambda x: x,
    "relu": torch.relu,
    "tanh": torch.tanh,
    "gelu": nn.functional.gelu,
}


def draw_truncated(w: Tensor, std: float, bound_in_sigmas: float) -> Tensor:
    """Fill a tensor from a normal distribution cut at so many standard deviations.

    `trunc_normal_` takes its bounds as numbers, not in standard deviations.
    """
    bound = bound_in_sigmas * std
    return nn.init.trunc_normal_(w, std=std, a=-bound, b=bound)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stack:
    """What is measured: so many square layers, with or without a residual stream.

    Attributes:
        scheme: Key of `SCHEMES`.
        num_layers: Layers.
        width: D of each (D, D) matrix.
        activation: Key of `ACTIVATIONS`.
        residual: Whether each layer adds to what it read.
    """

    scheme: str = "unit"
    num_layers: int = 16
    width: int = 256
    activation: str = "relu"
    residual: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread:
    """Standard deviations, the input's first, then layer by layer.

    Attributes:
        activations: Of the activations.
        gradients: Of the gradients with respect to them; the last is that of the output, 1.
    """

    activations: tuple[float, ...]
    gradients: tuple[float, ...]


def measure_spread(stack: Stack, seed: int = 0) -> Spread:
    """Run the stack forward and backward once and return the spread at every layer."""
    with alone_with_chance(seed):
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


def product_spread(fan_in: int, num_outputs: int = 32, seed: int = 0) -> Mapping[str, float]:
    """Return the standard deviation of x @ w for w of N(0, 1) and of N(0, 1/√fan_in)."""
    with alone_with_chance(seed):
        x, w = torch.randn(BATCH, fan_in), torch.randn(fan_in, num_outputs)
        y = x @ w
    return {"unit": y.std().item(), "fan_in": (y / math.sqrt(fan_in)).std().item()}


@dataclass(frozen=True, kw_only=True, slots=True)
class Truncation:
    """What a bound of `trunc_normal_` does.

    Attributes:
        std: What was asked for.
        bound: As it was passed.
        largest: Largest value drawn, in standard deviations.
        measured_std: Of what was drawn.
        edges: Of the bins of its histogram, in standard deviations.
        counts: How many weights fell into each.
    """

    std: float
    bound: float
    largest: float
    measured_std: float
    edges: tuple[float, ...]
    counts: tuple[int, ...]

    @property
    def bound_in_sigmas(self) -> float:
        """The bound in standard deviations."""
        return self.bound / self.std


def truncation(fan_in: int, *, in_sigmas: bool, seed: int = 0) -> Truncation:
    """Draw a million weights of N(0, 1/√fan_in) and measure them.

    Args:
        fan_in: Inputs of the layer.
        in_sigmas: Whether the bounds are ±3 standard deviations, or the numbers ±3.
        seed: Of the draw.
    """
    std = fan_in**-0.5
    bound = BOUND_IN_SIGMAS * std if in_sigmas else BOUND_IN_SIGMAS
    with alone_with_chance(seed):
        w = nn.init.trunc_normal_(torch.empty(1000, 1000), std=std, a=-bound, b=bound)
    counts, edges = torch.histogram(w / std, bins=_BINS, range=(-_WIDEST, _WIDEST))
    return Truncation(
        std=std, bound=bound, largest=w.abs().max().item() / std, measured_std=w.std().item(),
        edges=tuple(edges.tolist()), counts=tuple(map(int, counts.tolist())),
    )  # fmt: skip
