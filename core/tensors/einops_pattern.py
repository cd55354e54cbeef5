"""An einops pattern, taken apart: its axes, their lengths, and where each name stands.

Whether a pattern is valid, einops itself decides (`einops.parsing`, no documented interface, used
in this file alone).
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from einops import EinopsError
from einops.parsing import AnonymousAxis, ParsedExpression

from core.expressions.functions import EINOPS_ARGUMENTS
from core.language import _

Operation = Literal["rearrange", "reduce", "repeat"]
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
class Sides:
    """Both sides as groups of axis names, the sizes of all axes, and names of the numbers."""

    left: tuple[tuple[str, ...], ...]
    right: tuple[tuple[str, ...], ...]
    sizes: Mapping[str, int]


def sides_of(
    operation: Operation, pattern: str, shape: Sequence[int], sizes: Mapping[str, int]
) -> Sides:
    """Take a pattern apart for a tensor of some shape.

    Raises:
        EinopsError: If einops would refuse it.
    """
    _check_told(sizes)
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
    _check_dots(*parsed)
    left = _groups(parsed[0], "left", dots)
    right = _groups(parsed[1], "right", dots)
    known = {**sizes, **_numbers(left), **_numbers(right)}
    found = _solve(left, shape, known)
    _check_axes(operation, left, right, found)
    return Sides(left=left, right=right, sizes=found)


def _check_told(sizes: Mapping[str, int]) -> None:
    taken = sorted(EINOPS_ARGUMENTS & sizes.keys())
    if taken:
        message = _(
            "einops cannot be told the length of {names}: it has an argument of this name. "
            "Choose another name for the axis."
        )
        raise EinopsError(message.format(names=_(", ").join(taken)))


def _check_dots(left: ParsedExpression, right: ParsedExpression) -> None:
    if left.has_ellipsis_parenthesized:
        raise EinopsError(_("On the left, `...` cannot stand inside brackets."))
    if right.has_ellipsis and not left.has_ellipsis:
        raise EinopsError(_("`...` on the right has to stand on the left too."))


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
    if operation == "rearrange" and before ^ after:
        message = _("{names} appears on one side only; rearrange keeps every axis.")
        raise EinopsError(message.format(names=_(", ").join(sorted(before ^ after))))
    if operation == "reduce" and after - before:
        message = _("{names} appears on the right only; reduce adds no axis.")
        raise EinopsError(message.format(names=_(", ").join(sorted(after - before))))
    if operation == "repeat" and before - after:
        message = _("{names} appears on the left only; repeat keeps every axis.")
        raise EinopsError(message.format(names=_(", ").join(sorted(before - after))))
    missing = [name for name in sorted(after) if name not in sizes]
    if missing:
        message = _("The length of {names} is missing.")
        raise EinopsError(message.format(names=_(", ").join(missing)))


def tokens_of(pattern: str, sides: Sides) -> tuple[AxisToken, ...]:
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
