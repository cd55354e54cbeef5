"""What a model costs: bytes, FLOPs and seconds, every number with its formula and its source."""

from core.budget.formula import Formula
from core.budget.gpt import (
    activations,
    count_parameters,
    gradients,
    optimizer,
    step_flops,
    training_memory,
    weights,
)
from core.budget.item import Item

__all__ = [
    "Formula",
    "Item",
    "activations",
    "count_parameters",
    "gradients",
    "optimizer",
    "step_flops",
    "training_memory",
    "weights",
]
