"""The layers that models are made of: shapes, parameters, and what train() and eval() change."""

from collections.abc import Callable, Mapping
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


@dataclass(frozen=True, kw_only=True, slots=True)
class ZooLayer:
    """A layer of torch.

    Attributes:
        code: What builds it.
        build: The same, called.
        make_input: Makes its input for a batch size.
        does: What it does, marked for the catalogue.
    """

    code: str
    build: Callable[[], nn.Module]
    make_input: Callable[[int], Tensor]
    does: str


def _tokens_in(batch: int) -> Tensor:
    return torch.randn(batch, TOKENS, WIDTH)


LAYERS: Final[Mapping[str, ZooLayer]] = {
    "Embedding": ZooLayer(
        code=f"nn.Embedding({VOCABULARY}, {WIDTH})",
        build=lambda: nn.Embedding(VOCABULARY, WIDTH),
        make_input=lambda batch: torch.randint(VOCABULARY, (batch, TOKENS)),
        does=N_("looks up a row for each id; no product"),
    ),
    "Linear": ZooLayer(
        code=f"nn.Linear({WIDTH}, {WIDTH})",
        build=lambda: nn.Linear(WIDTH, WIDTH),
        make_input=_tokens_in,
        does=N_("x @ weight.T + bias on the last dimension"),
    ),
    "LayerNorm": ZooLayer(
        code=f"nn.LayerNorm({WIDTH})",
        build=lambda: nn.LayerNorm(WIDTH),
        make_input=_tokens_in,
        does=N_("mean 0 and variance 1 over the last dimension of each token"),
    ),
    "RMSNorm": ZooLayer(
        code=f"nn.RMSNorm({WIDTH})",
        build=lambda: nn.RMSNorm(WIDTH),
        make_input=_tokens_in,
        does=N_("divides each token by its root mean square; no mean, no bias"),
    ),
    "Dropout": ZooLayer(
        code=f"nn.Dropout({DROPOUT})",
        build=lambda: nn.Dropout(DROPOUT),
        make_input=_tokens_in,
        does=N_("in train() zeros at random and scales up the rest; in eval() nothing"),
    ),
    "BatchNorm1d": ZooLayer(
        code=f"nn.BatchNorm1d({WIDTH})",
        build=lambda: nn.BatchNorm1d(WIDTH),
        make_input=lambda batch: torch.randn(batch, WIDTH),
        does=N_("mean 0 and variance 1 over the batch; in eval() by running statistics"),
    ),
    "MultiheadAttention": ZooLayer(
        code=f"nn.MultiheadAttention({WIDTH}, {HEADS}, batch_first=True)",
        build=lambda: nn.MultiheadAttention(WIDTH, HEADS, batch_first=True),
        make_input=_tokens_in,
        does=N_("lets tokens look at each other; queries, keys and values in one packed matrix"),
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Visit:
    """What a layer did with one input.

    Attributes:
        name: Key of `LAYERS`.
        num_params: What it learns.
        input_shape: Of what it was given.
        output_shape: Of what it returned; () where it refused.
        train_std: Standard deviation of the output in train(); None where it refused.
        eval_std: The same in eval().
        differs: Whether the two modes gave different outputs.
        error: Torch's own words where it refused.
    """

    name: str
    num_params: int
    input_shape: tuple[int, ...]
    output_shape: tuple[int, ...]
    train_std: float | None
    eval_std: float
    differs: bool
    error: str


def visit(name: str, batch_size: int, seed: int = 0) -> Visit:
    """Run a layer in train() and in eval() on the same input."""
    row = LAYERS[name]
    with alone_with_chance(seed), torch.no_grad():
        layer, x = row.build(), row.make_input(batch_size)
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


def _run(layer: nn.Module, x: Tensor) -> Tensor:
    """Return the first output; attention gets its input as queries, keys and values."""
    out: Any = layer(x, x, x) if isinstance(layer, nn.MultiheadAttention) else layer(x)
    first: Tensor = out[0] if isinstance(out, tuple) else out
    return first
