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


@dataclass(frozen=True, slots=True)
class SmallModule:
    """A module that fits on a slide: what builds it in plain torch, and the shape of its input."""

    title: str  # marked for the catalogue
    input_shape: tuple[int, ...]
    code: str
    own: Callable[[], nn.Module] | None = None  # a class of this file that does the same

    def build(self) -> nn.Module:
        """Return it with values."""
        if self.own is not None:
            return self.own()
        module: nn.Module = eval(self.code, {"nn": nn})  # noqa: S307  a row of this file
        return module


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


_CRUNCHER: Final = """nn.Sequential(
    nn.Linear(64, 64, bias=False), nn.Linear(64, 64, bias=False), nn.Linear(64, 1, bias=False)
)"""
_CLASSIFIER: Final = """nn.Sequential(
    nn.Linear(50, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Dropout(0.3),
    nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 3),
)"""
SMALL: Final[Mapping[str, SmallModule]] = {
    "linear": SmallModule(N_("Linear(10, 5)"), (4, 10), "nn.Linear(10, 5)"),
    "cruncher": SmallModule(N_("Cruncher(64, 2)"), (8, 64), _CRUNCHER, lambda: Cruncher(64, 2)),
    "mlp": SmallModule(
        N_("MLP 784-256-10"),
        (32, 1, 28, 28),
        "nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))",
    ),
    "gelu_mlp": SmallModule(
        N_("MLP 768-3072-768 with GELU"),
        (2, 16, 768),
        "nn.Sequential(nn.Linear(768, 3072), nn.GELU(), nn.Linear(3072, 768))",
    ),
    "encoder": SmallModule(
        N_("TransformerEncoderLayer(64, 4)"),
        (2, 16, 64),
        "nn.TransformerEncoderLayer(64, 4, 256, batch_first=True)",
    ),
    "classifier": SmallModule(N_("Classifier 50-256-128-3"), (32, 50), _CLASSIFIER),
}
CLASSES: Final = 3  # of the classifier


def make(key: str) -> nn.Module:
    """Return a small module whose weights are drawn from a seed, torch's own state untouched."""
    with alone_with_chance():
        return SMALL[key].build()


def output_shape(key: str) -> tuple[int, ...]:
    """Return the shape of what a small module makes of its input."""
    with torch.no_grad():
        return tuple(make(key).eval()(torch.zeros(SMALL[key].input_shape)).shape)


def first_weight(key: str) -> float:
    """Return the first number of the first parameter."""
    return float(next(make(key).parameters()).detach().flatten()[0])


def losses_on_random_labels(num_steps: int) -> list[float]:
    """Return the cross-entropy of the classifier at every step; each batch has new random labels.

    Nothing can be learned from them: the best answer is 1/3 for each of the three classes, and no
    loss lies below ln 3 for long.
    """
    with alone_with_chance():
        model = SMALL["classifier"].build()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        losses = []
        for _step in range(num_steps):
            x, labels = torch.randn(128, 50), torch.randint(CLASSES, (128,))
            loss = nn.functional.cross_entropy(model(x), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses
