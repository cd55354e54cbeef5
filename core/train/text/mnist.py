"""The numbers of MNIST's usual script: normalization, batches, steps. No image is needed."""

from typing import Final

from core.budget import Formula, Item
from core.budget.item import item

# LeCun et al. 1998; mean and deviation as PyTorch's examples/mnist prints them
NUM_IMAGES: Final = 60_000
MEAN: Final = 0.1307
DEVIATION: Final = 0.3081
BRIGHTEST: Final = 255
_NORMALIZED: Final = Formula("(pixel / brightest - mean) / deviation")
_FULL: Final = Formula("num_images // batch_size")
_ALL: Final = Formula("ceil(num_images / batch_size)")
_STEPS: Final = Formula("num_batches * num_epochs")
_SOURCE: Final = "pytorch/examples, mnist/main.py"


def normalized(pixel: int) -> Item:
    """Return what ToTensor and Normalize make of a pixel from 0 to 255."""
    values = {"pixel": pixel, "brightest": BRIGHTEST, "mean": MEAN, "deviation": DEVIATION}
    return item("pixel", _NORMALIZED, values, unit="1", source=_SOURCE, kind="exact")


def batches_of_an_epoch(batch_size: int, *, drop_last: bool) -> Item:
    """Return the batches of the 60,000 training images."""
    values = {"num_images": NUM_IMAGES, "batch_size": batch_size}
    rule = _FULL if drop_last else _ALL
    return item("batches", rule, values, unit="count", source=_SOURCE, kind="exact")


def steps_of_training(num_batches: int, num_epochs: int) -> Item:
    """Return the optimizer steps of all epochs."""
    values = {"num_batches": num_batches, "num_epochs": num_epochs}
    return item("steps", _STEPS, values, unit="count", source=_SOURCE, kind="exact")
