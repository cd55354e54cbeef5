"""An einops pattern, taken apart: its axes, the torch calls that do the same, what they cost.

Whether a pattern is valid, einops itself decides (`einops.parsing`, no documented interface, used
in this file alone). The plan has einops' own order: split, permute, reduce, repeat, merge.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from einops import EinopsError
from einops.parsing import AnonymousAxis, ParsedExpression

from core.language import _
from core.tensors import rules
from core.tensors.layout import Layout
from core.tensors.rules import Kind, Predicted, fresh

Operation = Literal["rearrange", "reduce", "repeat"]
REDUCTIONS: Final = {"sum": "sum", "mean": "mean", "max": "amax", "min": "amin", "prod": "prod"}
_TOKEN: Final = re.compile(r"->|\.\.\.|\w+|[()]")


@dataclass(frozen=True, kw_only=True, slots=True)
class AxisToken:
    """A name in the pattern.

    Attributes:
        axis: Which axis it is: its name, or "2 (left)" for the number 2 on the left.
        side: "left" or "right" of the arrow.
        start, end: Where it stands in the pattern, the end excluded.
        size: Its length; of "..." that of all its dimensions together.
        group: Which dimension of that side it belongs to.
    """

    axis: str
    side: Literal["left", "right"]
    start: int
    end: int
    size: int
    group: int


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
        kind: "same" if nothing is to be done, "view" if every step is one, else "copy".
        flops: Additions and the like of a reduction; 0 elsewhere.
        bytes_moved: Read and written by the steps that copy.
    """

    tokens: tuple[AxisToken, ...]
    steps: tuple[PlanStep, ...]
    code: str
    kind: Kind
    flops: int
    bytes_moved: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sides:
    """Both sides as groups of axis names, the sizes of all axes, and names of the numbers."""

    left: tuple[tuple[str, ...], ...]
    right: tuple[tuple[str, ...], ...]
    sizes: Mapping[str, int]


def plan_einops(
    operation: Operation, pattern: str, x: Layout, reduction: str = "", **sizes: int
) -> Plan:
    """Return the torch calls that do what an einops call does.

    Args:
        operation: "rearrange", "reduce" or "repeat".
        pattern: As einops takes it.
        x: The tensor.
        reduction: Of `reduce`: sum, mean, max, min or prod.
        sizes: Lengths of axes, by name.

    Raises:
        ValueError: If einops would refuse it.
    """
    try:
        sides = _sides(operation, pattern, x.shape, sizes)
    except EinopsError as error:
        raise ValueError(str(error)) from error
    if operation == "reduce" and reduction not in REDUCTIONS:
        message = _("{reduction} is no reduction; use one of: {options}.")
        raise ValueError(message.format(reduction=reduction, options=", ".join(REDUCTIONS)))
    steps = _steps(sides, x, reduction)
    kinds = {step.kind for step in steps}
    kind: Kind = "copy" if "copy" in kinds else "view" if kinds else "same"
    return Plan(
        tokens=_tokens(pattern, sides),
        steps=steps,
        code="x" + "".join(step.code for step in steps),
        kind=kind,
        flops=sum(step.flops for step in steps),
        bytes_moved=sum(step.num_bytes_moved for step in steps),
    )


def _sides(
    operation: Operation, pattern: str, shape: Sequence[int], sizes: Mapping[str, int]
) -> _Sides:
    if pattern.count("->") != 1:
        raise EinopsError(_("A pattern has one arrow: left -> right."))
    texts = pattern.split("->")
    parsed = [ParsedExpression(text) for text in texts]
    num_dots = len(shape) - len(parsed[0].composition) + 1 if parsed[0].has_ellipsis else 0
    if num_dots < 0 or (
        not num_dots and not parsed[0].has_ellipsis and len(parsed[0].composition) != len(shape)
    ):
        message = _("The left side has {count} dimensions, the tensor {rank}.")
        raise EinopsError(message.format(count=len(parsed[0].composition), rank=len(shape)))
    dots = tuple(f"...{number}" for number in range(num_dots))
    left = _groups(parsed[0], "left", dots)
    right = _groups(parsed[1], "right", dots)
    known = {**sizes, **_numbers(left), **_numbers(right)}
    found = _solve(left, shape, known)
    _check_axes(operation, left, right, found)
    return _Sides(left=left, right=right, sizes=found)


def _groups(
    parsed: ParsedExpression, side: str, dots: tuple[str, ...]
) -> tuple[tuple[str, ...], ...]:
    """Return names in groups; a number is called by its place, "..." is taken apart."""
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
    """Return the length of every axis, from the shape and from what was given."""
    found = dict(known)
    for group, length in zip(groups, shape, strict=True):
        unknown = [name for name in group if name not in found]
        product = math.prod(found[name] for name in group if name in found)
        if len(unknown) > 1:
            message = _("The sizes of {names} cannot be told apart; give one.")
            raise EinopsError(message.format(names=", ".join(unknown)))
        if (unknown and (product == 0 or length % product)) or (not unknown and product != length):
            message = _("A dimension of length {length} is not ({group}) with {product}.")
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
    if operation == "rearrange" and before ^ after:
        message = _("{names} stands on one side only; rearrange keeps every axis.")
        raise EinopsError(message.format(names=", ".join(sorted(before ^ after))))
    if operation == "reduce" and after - before:
        message = _("{names} stands on the right only; reduce makes no axis.")
        raise EinopsError(message.format(names=", ".join(sorted(after - before))))
    if operation == "repeat" and before - after:
        message = _("{names} stands on the left only; repeat keeps every axis.")
        raise EinopsError(message.format(names=", ".join(sorted(before - after))))
    missing = [name for name in sorted(after) if name not in sizes]
    if missing:
        message = _("How long is {names}? Give its size.")
        raise EinopsError(message.format(names=", ".join(missing)))


class _Chain:
    """Torch calls in order, and the layout after the last of them."""

    def __init__(self, x: Layout) -> None:
        self.layout = x
        self.steps: list[PlanStep] = []

    def add(self, code: str, done: Predicted, flops: int = 0) -> None:
        is_copy = done.kind == "copy"
        moved = self.layout.num_bytes + done.layout.num_bytes if is_copy else 0
        step = PlanStep(
            code=code, kind=done.kind, layout=done.layout, num_bytes_moved=moved, flops=flops
        )
        self.steps.append(step)
        self.layout = done.layout

    def reshape(self, shape: tuple[int, ...]) -> None:
        self.add(f".reshape({_listed(shape)})", rules.reshape(self.layout, shape))


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
        chain.add(f".permute({_listed(order)})", view)
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
    chain.add(code, Predicted("copy", after), x.numel)


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
    return [*done, (f".expand({_listed(shape)})", rules.expand(x, shape))]


def _reducing(reduction: str, dims: tuple[int, ...]) -> str:
    if reduction == "prod":
        return "".join(f".prod({dim})" for dim in reversed(dims))
    return f".{REDUCTIONS[reduction]}(({_listed(dims)},))"


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) if numbers else "()"


def _tokens(pattern: str, sides: _Sides) -> tuple[AxisToken, ...]:
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
            size = _size_of(axis, sides.sizes)
            tokens.append(
                AxisToken(
                    axis=axis,
                    side=side,
                    start=found.start(),
                    end=found.end(),
                    size=size,
                    group=group,
                )
            )
    return tuple(tokens)


def _size_of(axis: str, sizes: Mapping[str, int]) -> int:
    if axis == "...":
        return math.prod(size for name, size in sizes.items() if name.startswith("..."))
    return sizes.get(axis, 1)
