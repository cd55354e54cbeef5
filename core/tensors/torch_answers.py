"""What torch itself says of shapes: its own words where it refuses, and what it copies unasked."""

import math
from collections.abc import Callable, Sequence
from typing import Final

import torch
from torch import Tensor

from core.expressions import MATERIALIZED, ON_META
from core.tensors.broadcasting import matmul_shape, matmul_sizes
from core.tensors.presets import counted, without_data
from core.tensors.trace import Step, trace

_SMALL: Final = 10_000  # elements that are made for a message


def broadcast_refusal(shapes: Sequence[Sequence[int]]) -> str:
    """Return what `a + b + ...` raises for these shapes; empty if they go together."""

    def together() -> None:
        torch.broadcast_tensors(*map(_zeros, shapes))

    return _message(together)


def matmul_refusal(left: Sequence[int], right: Sequence[int]) -> str:
    """Return what `left @ right` raises; empty if the shapes can be multiplied."""
    if matmul_shape(left, right).ok:
        return ""
    return _message(lambda: _zeros(left) @ _zeros(right))


def run_matmul(left: Sequence[int], right: Sequence[int], dtype: str) -> Step:
    """Run `x @ y` and return what torch did, with the operations underneath.

    Large tensors have no data: then shapes, bytes and operations are the same, and cost nothing.

    Raises:
        ValueError: If the shapes cannot be multiplied, or are larger than an int64 can count.
    """
    sizes, shape = matmul_sizes(left, right), matmul_shape(left, right).shape
    flops = 2 * math.prod(shape) * sizes.inner
    largest = max(map(math.prod, (left, right, shape)))
    is_small = largest <= MATERIALIZED.num_elements and flops <= MATERIALIZED.flops
    make, limits = (counted, MATERIALIZED) if is_small else (without_data, ON_META)
    ran = trace("x @ y", {"x": make(left, dtype), "y": make(right, dtype)}, limits)
    if ran.error:
        raise ValueError(ran.error.message)
    return ran.steps[-1]


def hidden_bytes(step: Step) -> int:
    """Return the bytes of copies that a step made and did not keep."""
    return max(step.bytes_made - step.bytes_copied, 0)


def _zeros(shape: Sequence[int]) -> Tensor:
    """Return zeros; a large tensor is one number, read again and again."""
    if math.prod(shape) <= _SMALL:
        return torch.zeros(tuple(shape))
    return torch.zeros(()).expand(tuple(shape))


def _message(run: Callable[[], object]) -> str:
    try:
        run()
    except RuntimeError as error:
        return str(error)
    return ""
