"""The whole account of a model small enough to count by hand (Stanford CS336, lecture 2, 2025).

L matrices of D x D and one of D x 1, no biases, no activation functions, a mean squared error;
B rows of data; fp32; AdaGrad. What the lecture's formulas say stands beside what torch keeps.
"""

from dataclasses import dataclass

from core.budget.check import check_range
from core.budget.item import Formula, Item, counted, total
from core.language import N_

PARAMETERS = Formula("width * width * num_layers + width")
ACTIVATIONS = Formula("batch_size * width * num_layers")
KEPT = Formula("batch_size * width * (num_layers + 1) + 2 * batch_size")
BYTES = Formula("4 * num_values")
FLOPS = Formula("6 * batch_size * num_params")
REAL_FLOPS = Formula("6 * batch_size * num_params - 2 * batch_size * width * width")
LARGEST = 1 << 20

_LECTURE = N_("Stanford CS336 of 2025, lecture 2: the formulas of the course")
_TORCH = N_("tensors that autograd keeps, counted on the module itself")
_COUNTED = N_("FlopCounterMode on the module itself: the data need no gradient")


@dataclass(frozen=True, kw_only=True, slots=True)
class TinyAccount:
    """The account of one training step.

    Attributes:
        kept: Values that autograd really keeps: data, inputs of the layers, answers and targets.
    """

    parameters: Item
    activations: Item
    kept: Item
    memory: Item
    flops: Item
    real_flops: Item


def tiny_account(batch_size: int, width: int, num_layers: int) -> TinyAccount:
    """Return the account of B rows through L layers of width D.

    >>> account = tiny_account(2, 4, 2)
    >>> account.parameters.amount, account.memory.amount, account.flops.amount
    (36, 496, 432)

    Raises:
        ValueError: If a size is below 1 or beyond a million.
    """
    sizes = {"batch_size": batch_size, "width": width, "num_layers": num_layers}
    for name, size in sizes.items():
        check_range(name, size, 1, LARGEST)
    parameters = counted("parameters", PARAMETERS, sizes, _LECTURE, "parameters")
    activations = counted("activations", ACTIVATIONS, sizes, _LECTURE, "values")
    counts = {**sizes, "num_params": parameters.amount}
    numbers = {
        "weights": parameters.amount,
        "gradients": parameters.amount,
        "optimizer": parameters.amount,
        "activations": activations.amount,
    }
    parts = [
        counted(name, BYTES, {"num_values": number}, _LECTURE) for name, number in numbers.items()
    ]
    return TinyAccount(
        parameters=parameters,
        activations=activations,
        kept=counted("kept values", KEPT, sizes, _TORCH, "values"),
        memory=total("memory", parts, source=_LECTURE),
        flops=counted("FLOPs", FLOPS, counts, _LECTURE, "FLOPs"),
        real_flops=counted("FLOPs", REAL_FLOPS, counts, _COUNTED, "FLOPs"),
    )
