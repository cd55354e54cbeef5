"""A small classifier of digits: images drawn here, and the two functions that every script has.

The images are no photographs and no one's data set: ten glyphs of 8 x 8 pixels, drawn by hand
below, each put at a random place of 10 x 10 pixels, with strokes of random strength and noise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from core.train.optimizers.loop import STATEMENTS

if TYPE_CHECKING:
    from torch import Generator, Tensor

SIDE: Final = 10
NUM_TRAINING: Final = 4000
NUM_TEST: Final = 1000
BATCH_SIZE: Final = 64
NOISE: Final = 0.25  # standard deviation; a stroke is 0.5 to 1
_GLYPHS: Final = (
    ".####... ##..##.. ##.###.. ####.##. ##..##.. ##..##.. .####... ........",
    "..##.... .###.... ..##.... ..##.... ..##.... ..##.... .####... ........",
    ".####... ##..##.. ....##.. ...##... ..##.... .##..... ######.. ........",
    ".####... ##..##.. ....##.. ..###... ....##.. ##..##.. .####... ........",
    "...###.. ..####.. .##.##.. ##..##.. ######.. ....##.. ....##.. ........",
    "######.. ##...... #####... ....##.. ....##.. ##..##.. .####... ........",
    "..###... .##..... ##...... #####... ##..##.. ##..##.. .####... ........",
    "######.. ##..##.. ....##.. ...##... ..##.... ..##.... ..##.... ........",
    ".####... ##..##.. ##..##.. .####... ##..##.. ##..##.. .####... ........",
    ".####... ##..##.. ##..##.. .#####.. ....##.. ...##... .###.... ........",
)
LOSS: Final = "loss = torch.nn.functional.cross_entropy(prediction, y)"


@dataclass(frozen=True, kw_only=True, slots=True)
class Digits:
    """Images (N, 10, 10), about 0 to 1, and which digit each is (N)."""

    images: np.ndarray[Any, np.dtype[np.float32]]
    labels: np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Classified:
    """What a classifier has learned: shares named rightly by epoch, the first before training.

    Attributes:
        guesses: What it takes each test image for, at the end.
        mean, deviation: Of all training pixels; both sets are normalized with them.
        error: torch's or Python's own words, if a step failed.
    """

    training: tuple[float, ...]
    test: tuple[float, ...]
    guesses: tuple[int, ...]
    mean: float
    deviation: float
    error: str = ""


def draw_digits(count: int, seed: int) -> Digits:
    """Return images of digits in random order, the same for the same seed."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, len(_GLYPHS), count)
    images = random.normal(0, NOISE, (count, SIDE, SIDE))
    for image, label in zip(images, labels, strict=True):
        rows = _GLYPHS[label].split()
        glyph = np.array([[pixel == "#" for pixel in row] for row in rows])
        top, left = random.integers(0, SIDE - len(rows) + 1, 2)
        image[top : top + len(rows), left : left + len(rows)] += glyph * random.uniform(0.5, 1)
    return Digits(images=images.astype(np.float32), labels=labels)


def classify(order: Sequence[str], num_epochs: int, lr: float) -> Classified:
    """Train a perceptron with 64 hidden units on 4,000 digits, tested on 1,000 that it never sees.

    `order` names the `STATEMENTS` in the loop over the batches; `lr` is of SGD with momentum 0.9.
    """
    import torch

    training, test = draw_digits(NUM_TRAINING, 0), draw_digits(NUM_TEST, 1)
    mean, deviation = float(training.images.mean()), float(training.images.std())
    random = torch.Generator().manual_seed(0)
    model = _model(random)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    sets = [
        (torch.from_numpy((each.images - mean) / deviation), torch.from_numpy(each.labels))
        for each in (training, test)
    ]
    body = compile("\n".join({**STATEMENTS, "loss": LOSS}[each] for each in order), "loop", "exec")
    names: dict[str, Any] = {"torch": torch, "model": model, "optimizer": optimizer}
    shares, error = [[evaluate(model, *each)] for each in sets], ""
    for _epoch in range(num_epochs):
        try:
            train_epoch(body, names, sets[0], random)
        except (NameError, RuntimeError) as raised:
            error = f"{type(raised).__name__}: {raised}".split(" Saved ")[0]
            break
        for share, each in zip(shares, sets, strict=True):
            share.append(evaluate(model, *each))
    with torch.no_grad():
        guesses = model(sets[1][0]).argmax(dim=1).tolist()
    return Classified(
        training=tuple(shares[0]), test=tuple(shares[1]), guesses=tuple(guesses), mean=mean,
        deviation=deviation, error=error,
    )  # fmt: skip


def _model(random: "Generator") -> Any:  # noqa: ANN401
    import torch
    from torch import nn

    # Made as usual a layer would draw from the global generator first.
    layers = [nn.utils.skip_init(nn.Linear, *sizes) for sizes in ((SIDE * SIDE, 64), (64, 10))]
    with torch.no_grad():
        for layer in layers:
            layer.weight.normal_(0, layer.in_features**-0.5, generator=random)
            layer.bias.zero_()
    return nn.Sequential(nn.Flatten(), layers[0], nn.ReLU(), layers[1])


def train_epoch(
    body: CodeType, names: dict[str, Any], data: "tuple[Tensor, Tensor]", random: "Generator"
) -> None:
    """Run the statements once for each batch of shuffled images."""
    import torch

    images, labels = data
    for batch in torch.randperm(len(images), generator=random).split(BATCH_SIZE):
        names |= {"x": images[batch], "y": labels[batch]}
        exec(body, names)  # noqa: S102  statements of our own table, none of a reader


def evaluate(model: Any, images: "Tensor", labels: "Tensor") -> float:  # noqa: ANN401
    """Return the share of the images that the model names rightly."""
    import torch

    with torch.no_grad():
        return float((model(images).argmax(dim=1) == labels).float().mean())
