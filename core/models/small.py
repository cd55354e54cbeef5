"""Small modules of textbooks and tutorials, each a row with its input.

Shape letters: B batch, D width.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn

from core.language import N_
from core.models.chance import alone_with_chance


@dataclass(frozen=True, kw_only=True, slots=True)
class SmallModule:
    """A module that fits on a slide.

    Attributes:
        title: Marked for the catalogue.
        build: Makes it, with values.
        input_shape: Of the tensor that it takes.
        code: The expression that builds it in plain torch.
    """

    title: str
    build: Callable[[], nn.Module]
    input_shape: tuple[int, ...]
    code: str


class Cruncher(nn.Module):
    """Linear layers without biases, then one number for each row: (B, D) to (B,)."""

    def __init__(self, width: int, num_layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(num_layers))
        self.final = nn.Linear(width, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return one number a row."""
        for layer in self.layers:
            x = layer(x)
        y: Tensor = self.final(x).squeeze(-1)  # (B, 1) -> (B,)
        return y


def _mlp() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))


def _simple_mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(768, 3072), nn.GELU(), nn.Linear(3072, 768))


def _classifier() -> nn.Module:
    return nn.Sequential(
        *(nn.Linear(50, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Dropout(0.3)),
        *(nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 3)),
    )


_CRUNCHER: Final = """nn.Sequential(
    nn.Linear(64, 64, bias=False), nn.Linear(64, 64, bias=False), nn.Linear(64, 1, bias=False)
)"""
_CLASSIFIER: Final = """nn.Sequential(
    nn.Linear(50, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Dropout(0.3),
    nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 3),
)"""
SMALL: Final[Mapping[str, SmallModule]] = {
    "linear": SmallModule(
        title=N_("Linear(10, 5)"),
        build=lambda: nn.Linear(10, 5),
        input_shape=(4, 10),
        code="nn.Linear(10, 5)",
    ),
    "cruncher": SmallModule(
        title=N_("Cruncher(64, 2)"),
        build=lambda: Cruncher(64, 2),
        input_shape=(8, 64),
        code=_CRUNCHER,
    ),
    "mlp": SmallModule(
        title=N_("MLP 784-256-10"),
        build=_mlp,
        input_shape=(32, 1, 28, 28),
        code="nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))",
    ),
    "gelu_mlp": SmallModule(
        title=N_("MLP 768-3072-768 with GELU"),
        build=_simple_mlp,
        input_shape=(2, 16, 768),
        code="nn.Sequential(nn.Linear(768, 3072), nn.GELU(), nn.Linear(3072, 768))",
    ),
    "encoder": SmallModule(
        title=N_("TransformerEncoderLayer(64, 4)"),
        build=lambda: nn.TransformerEncoderLayer(64, 4, 256, batch_first=True),
        input_shape=(2, 16, 64),
        code="nn.TransformerEncoderLayer(64, 4, 256, batch_first=True)",
    ),
    "classifier": SmallModule(
        title=N_("Classifier 50-256-128-3"),
        build=_classifier,
        input_shape=(32, 50),
        code=_CLASSIFIER,
    ),
}


CLASSES: Final = 3  # of the classifier


def make(key: str, seed: int = 0) -> nn.Module:
    """Return a small module whose weights are drawn from a seed, torch's own state untouched."""
    with alone_with_chance(seed):
        return SMALL[key].build()


def output_shape(key: str) -> tuple[int, ...]:
    """Return the shape of what a small module makes of its input."""
    with torch.no_grad():
        return tuple(make(key).eval()(torch.zeros(SMALL[key].input_shape)).shape)


def first_weight(key: str) -> float:
    """Return the first number of the first parameter."""
    return float(next(make(key).parameters()).detach().flatten()[0])


def losses_on_random_labels(num_steps: int, *, batch_size: int = 128, seed: int = 0) -> list[float]:
    """Return the cross-entropy of the classifier at every step; each batch has new random labels.

    Nothing can be learned from them: the best answer is 1/3 for each of the three classes, and no
    loss lies below ln 3 for long.
    """
    with alone_with_chance(seed):
        model = SMALL["classifier"].build()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        losses = []
        for _step in range(num_steps):
            x, labels = torch.randn(batch_size, 50), torch.randint(CLASSES, (batch_size,))
            loss = nn.functional.cross_entropy(model(x), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses
