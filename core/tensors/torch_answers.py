"""What torch itself makes of shapes: its words where it refuses, what it stretches and copies."""

import math
from collections.abc import Callable, Sequence
from typing import Final, Literal

import torch
from torch import Tensor

from core.expressions import MATERIALIZED
from core.language import _
from core.language.listing import listed
from core.tensors.broadcasting import Broadcast, Operand, matmul_shape, matmul_sizes
from core.tensors.presets import tensors_of
from core.tensors.shape_text import written_shape
from core.tensors.trace import Step, Trace, trace

How = Literal["expand", "repeat"]
MAX_OPERANDS: Final = 4
HOW: Final[tuple[How, ...]] = ("expand", "repeat")
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
    tensors, limits = tensors_of({"x": left, "y": right}, dtype, is_small=is_small)
    ran = trace("x @ y", tensors, limits)
    if ran.error:
        raise ValueError(ran.error.message)
    return ran.steps[-1]


def stretch_calls(case: Broadcast, how: How) -> tuple[tuple[str, str], ...]:
    """Return name and call for each operand that is stretched; for the first if none is.

    >>> from core.tensors.broadcasting import broadcast
    >>> stretch_calls(broadcast({"a": (3, 1), "b": (3, 4)}, 4), "expand")
    (('a', 'a.expand(3, 4)'),)

    Raises:
        ValueError: If the shapes do not go together.
    """
    if case.result is None:
        message = _("{shapes} cannot be broadcast: the tab Shapes says why.")
        raise ValueError(message.format(shapes=listed(case.shapes)))
    shape = case.result.shape
    stretched = [each for each in case.operands if each.stored.shape != shape]
    return tuple((each.name, _call(each, shape, how)) for each in stretched or case.operands[:1])


def _call(operand: Operand, shape: Sequence[int], how: How) -> str:
    own = operand.stored.shape
    padded = (1,) * (len(shape) - len(own)) + own
    counts = [length if old == 1 else 1 for length, old in zip(shape, padded, strict=True)]
    return f"{operand.name}.{how}({written_shape(shape if how == 'expand' else counts)})"


def run_stretch(case: Broadcast, how: How, dtype: str, most: int = MAX_OPERANDS) -> Trace:
    """Run the calls and return every step; large tensors have no data, and cost nothing.

    Args:
        case: What is broadcast.
        how: By "expand" or by "repeat".
        dtype: Of the operands.
        most: So many of them at most, the first ones.

    Raises:
        ValueError: If the shapes do not go together.
    """
    calls = stretch_calls(case, how)[:most]
    operands = {each.name: each.stored for each in case.operands}
    sizes = [operands[name].numel for name, _call in calls]
    sizes += [case.result.numel] if case.result else []
    is_small = len(calls) * max(sizes) <= MATERIALIZED.num_elements
    shapes = {name: operands[name].shape for name, _call in calls}
    tensors, limits = tensors_of(shapes, dtype, is_small=is_small)
    source = "\n".join(f"{name}_wide = {call}" for name, call in calls)
    return trace(source, tensors, limits)


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
