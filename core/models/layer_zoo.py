"""The layers that models are made of: shapes, parameters, and what train() and eval() change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor, nn

from core.language import N_
from core.models.chance import alone_with_chance

WIDTH: Final = 64
HEADS: Final = 4
VOCABULARY: Final = 100
TOKENS: Final = 16
DROPOUT: Final = 0.1


@dataclass(frozen=True, slots=True)
class ZooLayer:
    """A layer of torch: what builds it, and what it does, marked for the catalogue."""

    code: str
    does: str


LAYERS: Final[Mapping[str, ZooLayer]] = {
    "Embedding": ZooLayer(
        f"nn.Embedding({VOCABULARY}, {WIDTH})", N_("looks up a row for each id; no product")
    ),
    "Linear": ZooLayer(
        f"nn.Linear({WIDTH}, {WIDTH})", N_("x @ weight.T + bias on the last dimension")
    ),
    "LayerNorm": ZooLayer(
        f"nn.LayerNorm({WIDTH})", N_("mean 0 and variance 1 over the last dimension of each token")
    ),
    "RMSNorm": ZooLayer(
        f"nn.RMSNorm({WIDTH})", N_("divides each token by its root mean square; no mean, no bias")
    ),
    "Dropout": ZooLayer(
        f"nn.Dropout({DROPOUT})",
        N_("in train() zeros at random and scales up the rest; in eval() nothing"),
    ),
    "BatchNorm1d": ZooLayer(
        f"nn.BatchNorm1d({WIDTH})",
        N_("mean 0 and variance 1 over the batch; in eval() by running statistics"),
    ),
    "MultiheadAttention": ZooLayer(
        f"nn.MultiheadAttention({WIDTH}, {HEADS}, batch_first=True)",
        N_("lets tokens look at each other; queries, keys and values in one packed matrix"),
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Visit:
    """What a layer did with one input."""

    name: str
    num_params: int
    input_shape: tuple[int, ...]
    output_shape: tuple[int, ...]
    train_std: float | None  # of the output in train(); None where it refused
    eval_std: float
    differs: bool  # whether the two modes gave different outputs
    error: str  # torch's own words where it refused


def visit(name: str, batch_size: int) -> Visit:
    """Run a layer in train() and in eval() on the same input."""
    with alone_with_chance(), torch.no_grad():
        layer = eval(LAYERS[name].code, {"nn": nn})  # noqa: S307  a row of this file
        x = _input_of(name, batch_size)
        resting = _run(layer.eval(), x)
        trained, error = None, ""
        try:
            trained = _run(layer.train(), x)
        except ValueError as problem:
            error = str(problem)
    return Visit(
        name=name,
        num_params=sum(each.numel() for each in layer.parameters()),
        input_shape=tuple(x.shape),
        output_shape=tuple(resting.shape),
        train_std=None if trained is None else trained.std().item(),
        eval_std=resting.std().item(),
        differs=trained is None or not torch.equal(trained, resting),
        error=error,
    )


def _input_of(name: str, batch_size: int) -> Tensor:
    if name == "Embedding":
        return torch.randint(VOCABULARY, (batch_size, TOKENS))
    tokens = () if name == "BatchNorm1d" else (TOKENS,)
    return torch.randn(batch_size, *tokens, WIDTH)


def _run(layer: nn.Module, x: Tensor) -> Tensor:
    """Return the first output; attention gets its input as queries, keys and values."""
    out: Any = layer(x, x, x) if isinstance(layer, nn.MultiheadAttention) else layer(x)
    first: Tensor = out[0] if isinstance(out, tuple) else out
    return first
