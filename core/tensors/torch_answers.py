"""What torch itself makes of shapes: its words where it refuses, its values, what it copies."""

import math
from collections.abc import Callable, Sequence
from typing import Final

import torch
from torch import Tensor

from core.expressions import MATERIALIZED
from core.tensors.broadcasting import Broadcast, matmul_shape
from core.tensors.examples import DTYPES, counted, tensors_of
from core.tensors.layout import Layout
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
    """Run `x @ y`, which can be multiplied, and return what torch did.

    Large tensors have no data: then shapes, bytes and operations are the same, and cost nothing.

    Raises:
        ValueError: If they are larger than an int64 can count.
    """
    shape = matmul_shape(left, right).shape
    flops = 2 * math.prod(shape) * left[-1]
    largest = max(map(math.prod, (left, right, shape)))
    is_small = largest <= MATERIALIZED.num_elements and flops <= MATERIALIZED.flops
    tensors, limits = tensors_of({"x": left, "y": right}, dtype, is_small=is_small)
    ran = trace("x @ y", tensors, limits)
    if ran.error:
        raise ValueError(ran.error.message)
    return ran.steps[-1]


def view_refusal(layout: Layout, dtype: str, target: Sequence[int]) -> str:
    """Return what `view` raises on a tensor with these very strides; empty if it is a view."""
    x = torch.empty_strided(layout.shape, layout.stride, dtype=DTYPES[dtype], device="meta")
    return _message(lambda: x.view(tuple(target)))


def broadcast_values(case: Broadcast) -> list[Tensor]:
    """Run `a + b + ...` and return the operands, stretched, and the result.

    The first operand counts in tens, so that its numbers can be told from those of the others.

    Raises:
        ValueError: If the shapes do not go together.
    """
    if case.result is None:
        raise ValueError(f"{case.shapes} do not go together")
    given = [
        counted(each.stored.shape) * (1 if number else 10)
        for number, each in enumerate(case.operands)
    ]
    stretched = [x.expand(case.result.shape) for x in given]
    return [*stretched, sum(given[1:], start=given[0])]


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
