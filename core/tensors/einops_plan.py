"""An einops pattern, taken apart, and the torch calls that do what it says, with their cost.

The plan has einops' own order: split, permute, reduce, repeat, merge. Whether a pattern is valid,
einops itself decides (`einops.parsing`, no documented interface, used in this file alone).
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from einops import EinopsError
from einops.parsing import AnonymousAxis, ParsedExpression

from core.expressions.functions import EINOPS_ARGUMENTS
from core.language import _
from core.tensors import rules
from core.tensors.layout import Layout, fresh
from core.tensors.rules import Kind, Predicted
from core.tensors.shape_text import written_shape

Operation = Literal["rearrange", "reduce", "repeat"]
REDUCTIONS: Final = {"sum": "sum", "mean": "mean", "max": "amax", "min": "amin", "prod": "prod"}
_TOKEN: Final = re.compile(r"->|\.\.\.|\w+|[()]")


@dataclass(frozen=True, kw_only=True, slots=True)
class AxisToken:
    """A name in the pattern: where it stands, and the dimension of its side that it belongs to."""

    axis: str  # its name, or "2 (left 0)" for the first number on the left
    side: Literal["left", "right"]
    start: int
    end: int
    size: int  # of "..." that of all its dimensions together
    group: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sides:
    """Both sides as groups of axis names, the sizes of all axes, and names of the numbers."""

    left: tuple[tuple[str, ...], ...]
    right: tuple[tuple[str, ...], ...]
    sizes: Mapping[str, int]


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
    """What a pattern does to a tensor: torch calls in order, none if it changes nothing.

    `kind` is "view" if every step is one, "new" if one computes, else "copy".
    """

    tokens: tuple[AxisToken, ...]
    steps: tuple[PlanStep, ...]
    code: str  # all of them behind `x`
    kind: Kind
    flops: int  # n - 1 for each n numbers that a reduction makes one of, and a division for a mean
    bytes_moved: int  # read and written by copies; what lies at one address is read once


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
        sides = _sides_of(operation, pattern, x.shape, sizes)
    except EinopsError as error:
        raise ValueError(str(error)) from error
    if operation == "reduce" and reduction not in REDUCTIONS:
        message = _("{reduction} is not a reduction; use one of: {options}.")
        raise ValueError(message.format(reduction=reduction, options=_(", ").join(REDUCTIONS)))
    steps = _steps(sides, x, reduction)
    kinds = {step.kind for step in steps}
    kind: Kind = next((each for each in ("new", "copy", "view") if each in kinds), "same")
    return Plan(
        tokens=_tokens_of(pattern, sides),
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


def _steps(sides: _Sides, x: Layout, reduction: str) -> tuple[PlanStep, ...]:
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
    dims = range(num_kept, x.ndim)
    code = f".{REDUCTIONS[reduction]}(({written_shape(dims)},))"
    if reduction == "prod":  # takes one dimension at a time
        code = "".join(f".prod({dim})" for dim in reversed(dims))
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


def _sides_of(
    operation: Operation, pattern: str, shape: Sequence[int], sizes: Mapping[str, int]
) -> _Sides:
    taken = sorted(EINOPS_ARGUMENTS & sizes.keys())
    if taken:
        message = _(
            "einops cannot be told the length of {names}: it has an argument of this name. "
            "Choose another name for the axis."
        )
        raise EinopsError(message.format(names=_(", ").join(taken)))
    if pattern.count("->") != 1:
        raise EinopsError(_("A pattern needs one arrow: left -> right."))
    texts = pattern.split("->")
    parsed = [ParsedExpression(text) for text in texts]
    num_dots = len(shape) - len(parsed[0].composition) + 1 if parsed[0].has_ellipsis else 0
    if num_dots < 0 or (
        not num_dots and not parsed[0].has_ellipsis and len(parsed[0].composition) != len(shape)
    ):
        message = _("The left side has {count} dimensions, but the tensor has {rank}.")
        raise EinopsError(message.format(count=len(parsed[0].composition), rank=len(shape)))
    dots = tuple(f"...{number}" for number in range(num_dots))
    if parsed[0].has_ellipsis_parenthesized:
        raise EinopsError(_("On the left, `...` cannot stand inside brackets."))
    if parsed[1].has_ellipsis and not parsed[0].has_ellipsis:
        raise EinopsError(_("`...` on the right has to stand on the left too."))
    left = _groups(parsed[0], "left", dots)
    right = _groups(parsed[1], "right", dots)
    known = {**sizes, **_numbers(left), **_numbers(right)}
    found = _solve(left, shape, known)
    _check_axes(operation, left, right, found)
    return _Sides(left=left, right=right, sizes=found)


def _groups(
    parsed: ParsedExpression, side: str, dots: tuple[str, ...]
) -> tuple[tuple[str, ...], ...]:
    groups: list[tuple[str, ...]] = []
    number = 0
    for part in parsed.composition:
        if isinstance(part, str):
            groups.extend((name,) for name in dots)
            continue
        names: list[str] = []
        for each in part:
            if isinstance(each, AnonymousAxis):
                names.append(f"{each.value} ({side} {number})")
                number += 1
            else:
                names.extend(dots if each == "…" else (each,))
        groups.append(tuple(names))
    return tuple(groups)


def _numbers(groups: Sequence[Sequence[str]]) -> dict[str, int]:
    names = (name for group in groups for name in group if name[0].isdecimal())
    return {name: int(name.split(" ", 1)[0]) for name in names}


def _solve(
    groups: Sequence[Sequence[str]], shape: Sequence[int], known: Mapping[str, int]
) -> dict[str, int]:
    found = dict(known)
    for group, length in zip(groups, shape, strict=True):
        unknown = [name for name in group if name not in found]
        product = math.prod(found[name] for name in group if name in found)
        if len(unknown) > 1:
            message = _("The lengths of {names} are ambiguous; give one of them.")
            raise EinopsError(message.format(names=_(", ").join(unknown)))
        if (unknown and (product == 0 or length % product)) or (not unknown and product != length):
            message = _(
                "A dimension of length {length} does not match ({group}): its known "
                "lengths multiply to {product}."
            )
            words = {"length": length, "group": " ".join(group), "product": product}
            raise EinopsError(message.format(**words))
        if unknown:
            found[unknown[0]] = length // product
    return found


def _check_axes(
    operation: Operation,
    left: Sequence[Sequence[str]],
    right: Sequence[Sequence[str]],
    sizes: Mapping[str, int],
) -> None:
    before = {name for group in left for name in group}
    after = {name for group in right for name in group}
    wrong, message = {
        "rearrange": (
            before ^ after,
            _("{names} appears on one side only; rearrange keeps every axis."),
        ),
        "reduce": (after - before, _("{names} appears on the right only; reduce adds no axis.")),
        "repeat": (before - after, _("{names} appears on the left only; repeat keeps every axis.")),
    }[operation]
    if wrong:
        raise EinopsError(message.format(names=_(", ").join(sorted(wrong))))
    missing = [name for name in sorted(after) if name not in sizes]
    if missing:
        message = _("The length of {names} is missing.")
        raise EinopsError(message.format(names=_(", ").join(missing)))


def _tokens_of(pattern: str, sides: _Sides) -> tuple[AxisToken, ...]:
    """Return where each name stands; numbers are found again by their order."""
    tokens: list[AxisToken] = []
    side: Literal["left", "right"] = "left"
    group, numbers, is_open = -1, 0, False
    for found in _TOKEN.finditer(pattern):
        text = found.group()
        if text == "->":
            side, group, numbers = "right", -1, 0
        elif text in "()":
            is_open = text == "("
            group += is_open
        else:
            group += not is_open
            axis = text
            if text.isdecimal() and int(text) != 1:
                axis, numbers = f"{int(text)} ({side} {numbers})", numbers + 1
            is_dots = axis == "..."
            dots = (size for name, size in sides.sizes.items() if name.startswith("..."))
            size = math.prod(dots) if is_dots else sides.sizes.get(axis, 1)
            start, end = found.span()
            tokens.append(
                AxisToken(axis=axis, side=side, start=start, end=end, size=size, group=group)
            )
    return tuple(tokens)
