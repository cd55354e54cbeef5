"""The torch calls that do what an einops pattern says, and what they cost.

The plan has einops' own order: split, permute, reduce, repeat, merge.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from einops import EinopsError

from core.language import _
from core.tensors import rules
from core.tensors.einops_pattern import AxisToken as AxisToken
from core.tensors.einops_pattern import Operation as Operation
from core.tensors.einops_pattern import Sides, sides_of, tokens_of
from core.tensors.layout import Layout, fresh
from core.tensors.rules import Kind, Predicted
from core.tensors.shape_text import written_shape

REDUCTIONS: Final = {"sum": "sum", "mean": "mean", "max": "amax", "min": "amin", "prod": "prod"}


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanStep:
    """One torch call: its code behind the tensor, and what comes of it."""

    code: str
    kind: Kind
    layout: Layout
    num_bytes_moved: int
    flops: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What a pattern does to a tensor.

    Attributes:
        tokens: The names of the pattern with their sizes.
        steps: torch calls in order; none if the pattern changes nothing.
        code: All of them behind `x`.
        kind: "same" if nothing is to be done, "view" if every step is one, "new" if one computes,
            else "copy".
        flops: n - 1 additions or the like for each n numbers that a reduction makes one of, and a
            division for each mean; 0 elsewhere.
        bytes_moved: Read and written by the steps that copy; what lies at one address is read once.
    """

    tokens: tuple[AxisToken, ...]
    steps: tuple[PlanStep, ...]
    code: str
    kind: Kind
    flops: int
    bytes_moved: int


def plan_einops(
    operation: Operation, pattern: str, x: Layout, reduction: str = "", /, **sizes: int
) -> Plan:
    """Return the torch calls that do what an einops call does.

    Args:
        operation: "rearrange", "reduce" or "repeat".
        pattern: As einops takes it.
        x: The tensor.
        reduction: Of `reduce`: sum, mean, max, min or prod.
        sizes: Lengths of axes, by name; an axis may be called `x` or `operation` too.

    Raises:
        ValueError: If einops would refuse it.
    """
    try:
        sides = sides_of(operation, pattern, x.shape, sizes)
    except EinopsError as error:
        raise ValueError(str(error)) from error
    if operation == "reduce" and reduction not in REDUCTIONS:
        message = _("{reduction} is not a reduction; use one of: {options}.")
        raise ValueError(message.format(reduction=reduction, options=_(", ").join(REDUCTIONS)))
    steps = _steps(sides, x, reduction)
    kinds = {step.kind for step in steps}
    kind: Kind = next((each for each in ("new", "copy", "view") if each in kinds), "same")
    return Plan(
        tokens=tokens_of(pattern, sides),
        steps=steps,
        code="x" + "".join(step.code for step in steps),
        kind=kind,
        flops=sum(step.flops for step in steps),
        bytes_moved=sum(step.num_bytes_moved for step in steps),
    )


class _Chain:
    """Torch calls in order, and the layout after the last of them."""

    def __init__(self, x: Layout) -> None:
        self.layout = x
        self.steps: list[PlanStep] = []

    def add(self, code: str, done: Predicted, flops: int = 0) -> None:
        is_written = done.kind in {"copy", "new"}
        moved = _bytes_read(self.layout) + done.layout.num_bytes if is_written else 0
        step = PlanStep(
            code=code, kind=done.kind, layout=done.layout, num_bytes_moved=moved, flops=flops
        )
        self.steps.append(step)
        self.layout = done.layout

    def reshape(self, shape: tuple[int, ...]) -> None:
        self.add(f".reshape({written_shape(shape)})", rules.reshape(self.layout, shape))


def _bytes_read(x: Layout) -> int:
    """Return the bytes behind the elements; along a dimension of stride 0 there is only one."""
    pairs = zip(x.shape, x.stride, strict=True)
    return math.prod(length for length, step in pairs if step or not length) * x.itemsize


def _steps(sides: Sides, x: Layout, reduction: str) -> tuple[PlanStep, ...]:
    split = [name for group in sides.left for name in group]
    wanted = [name for group in sides.right for name in group]
    kept = [name for name in wanted if name in split]
    chain = _Chain(x)
    if any(len(group) != 1 for group in sides.left):
        chain.reshape(tuple(sides.sizes[name] for name in split))
    order = [split.index(name) for name in (*kept, *(each for each in split if each not in wanted))]
    if order != sorted(order):
        view = Predicted("view", rules.permute(chain.layout, order))
        chain.add(f".permute({written_shape(order)})", view)
    if len(kept) < len(split):
        _reduce(chain, len(kept), reduction)
    if len(kept) < len(wanted):
        lengths = [None if name in kept else sides.sizes[name] for name in wanted]
        for code, layout in _added(chain.layout, lengths):
            chain.add(code, Predicted("view", layout))
    if any(len(group) != 1 for group in sides.right):
        chain.reshape(
            tuple(math.prod(sides.sizes[name] for name in group) for group in sides.right)
        )
    return tuple(chain.steps)


def _reduce(chain: _Chain, num_kept: int, reduction: str) -> None:
    x = chain.layout
    after = fresh(replace(x, shape=x.shape[:num_kept], stride=x.stride[:num_kept]))
    code = _reducing(reduction, tuple(range(num_kept, x.ndim)))
    operations = max(x.numel - after.numel, 0)
    divisions = after.numel if operations and reduction == "mean" else 0
    chain.add(code, Predicted("new", after), operations + divisions)


def _added(x: Layout, lengths: Sequence[int | None]) -> list[tuple[str, Layout]]:
    """Return the calls that put in new axes, `lengths` long, between those that are there."""
    done: list[tuple[str, Layout]] = []
    for dim, length in enumerate(lengths):
        if length is not None:
            x = rules.unsqueeze(x, dim)
            done.append((f".unsqueeze({dim})", x))
    shape = tuple(
        old if length is None else length for old, length in zip(x.shape, lengths, strict=True)
    )
    return [*done, (f".expand({written_shape(shape)})", rules.expand(x, shape))]


def _reducing(reduction: str, dims: tuple[int, ...]) -> str:
    if reduction == "prod":
        return "".join(f".prod({dim})" for dim in reversed(dims))
    return f".{REDUCTIONS[reduction]}(({written_shape(dims)},))"
