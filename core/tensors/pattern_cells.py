"""What an einops pattern does, cell by cell: where each axis lies before and after."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import einops
import numpy as np
import numpy.typing as npt
import torch

from core.language import _
from core.tensors.einops_plan import AxisToken, Operation, Plan, plan_einops
from core.tensors.examples import DTYPES, PATTERNS, PatternExample
from core.tensors.layout import contiguous

MAX_AXES: Final = 6
MAX_CELLS: Final = 256  # of one tensor that are drawn
_CAPS: Final = (4096, 256, 64, 32, 16, 12, 8, 6, 5, 4, 3, 2, 1)
_NAME: Final = re.compile(r"\.\.\.|[^\W\d]\w*")
_PART: Final = re.compile(r"\([^()]*\)|[^\s()]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class PatternCall:
    """A call of einops on `x`, which holds ones, or 0, 1, 2, ...

    `lengths` are those of all axes that the pattern names; "..." stands for one dimension here.
    """

    operation: Operation
    pattern: str
    lengths: Mapping[str, int]
    reduction: str = "sum"
    dtype: str = "float32"
    ones: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """Of `x`: what stands left of the arrow, each bracket multiplied."""
        return self.shape_with(self.lengths)

    def shape_with(self, lengths: Mapping[str, int]) -> tuple[int, ...]:
        """Return the shape of `x` for other lengths."""
        parts = _PART.findall(self.pattern.partition("->")[0])
        return tuple(math.prod(_length(word, lengths) for word in _words(part)) for part in parts)

    @property
    def sizes(self) -> dict[str, int]:
        """The lengths that einops has to be told, for it cannot see them in the shape."""
        left, _arrow, right = self.pattern.partition("->")
        told: list[str] = []
        for part in _PART.findall(left):
            told += [word for word in _words(part) if not word.isdecimal()][:-1]
        known = _NAME.findall(left)
        told += [name for name in _NAME.findall(right) if name not in known]
        return {name: self.lengths[name] for name in told if name in self.lengths.keys() - {"..."}}


@dataclass(frozen=True, kw_only=True, slots=True)
class Cells:
    """One tensor to be drawn; without values where it is only a part of the real one."""

    dims: tuple[str, ...]  # what each dimension is called in the pattern: "t", "(h d)"
    along: Mapping[str, npt.NDArray[np.int64]]  # for each axis, the index along it in every cell
    values: npt.NDArray[np.float64] | None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the cells that are drawn."""
        return next(iter(self.along.values())).shape if self.along else (1,) * len(self.dims)


@dataclass(frozen=True, kw_only=True, slots=True)
class PatternRun:
    """A call with its plan, and both tensors as cells, at most `MAX_CELLS` each."""

    call: PatternCall
    plan: Plan
    shape: tuple[int, ...]
    result_shape: tuple[int, ...]
    before: Cells
    after: Cells
    shown: Mapping[str, int]  # lengths of the axes as they are drawn

    @property
    def is_whole(self) -> bool:
        """Whether every element is drawn."""
        return dict(self.shown) == dict(self.call.lengths)

    @property
    def first(self) -> float | None:
        """The first element of the result, where the values are known."""
        values = self.after.values
        return None if values is None or not values.size else float(values.flat[0])


def axes_in(pattern: str) -> tuple[str, ...]:
    """Return the named axes in order of appearance; "..." is one of them.

    Raises:
        ValueError: If there are more than six, or none.

    >>> axes_in("b t (h d) -> b h t d")
    ('b', 't', 'h', 'd')
    """
    names = tuple(dict.fromkeys(_NAME.findall(pattern)))
    if not 1 <= len(names) <= MAX_AXES:
        message = _("The pattern names {count} axes; use 1 to {limit}.")
        raise ValueError(message.format(count=len(names), limit=MAX_AXES))
    return names


def axis_words(pattern: str) -> Mapping[str, str]:
    """Return what the letters of an example's pattern stand for; nothing for any other pattern.

    >>> axis_words("b t d -> t b d")
    {}
    """
    words = next((each.words for each in PATTERNS.values() if each.pattern == pattern), ())
    return dict(zip(axes_in(pattern), words, strict=False)) if words else {}


def run_pattern(call: PatternCall) -> PatternRun:
    """Plan a call at its real size, and run einops at the size that is drawn.

    Raises:
        ValueError: If einops would refuse it.
    """
    x = contiguous(call.shape, DTYPES[call.dtype].itemsize)
    plan = _planned(call, x.shape, call.lengths)
    shown = _shown_lengths(call)
    small = _planned(call, call.shape_with(shown), shown)
    values = _values(call, shown) if shown == dict(call.lengths) else (None, None)
    return PatternRun(
        call=call,
        plan=plan,
        shape=x.shape,
        result_shape=plan.steps[-1].layout.shape if plan.steps else x.shape,
        before=_cells([token for token in small.tokens if token.side == "left"], values[0]),
        after=_cells([token for token in small.tokens if token.side == "right"], values[1]),
        shown=shown,
    )


def _planned(call: PatternCall, shape: Sequence[int], lengths: Mapping[str, int]) -> Plan:
    sizes = {name: lengths[name] for name in call.sizes}
    x = contiguous(shape, DTYPES[call.dtype].itemsize)
    return plan_einops(call.operation, call.pattern, x, call.reduction, **sizes)


def _shown_lengths(call: PatternCall) -> dict[str, int]:
    """Return the lengths cut so that both tensors can be drawn."""
    sides = call.pattern.split("->")
    for cap in _CAPS:
        shown = {name: min(length, cap) for name, length in call.lengths.items()}
        if max(_count(side, shown) for side in sides) <= MAX_CELLS:
            return shown
    raise ValueError(_("The numbers in this pattern give more cells than can be drawn."))


def _count(side: str, lengths: Mapping[str, int]) -> int:
    return math.prod(_length(word, lengths) for word in _words(side))


def _words(part: str) -> list[str]:
    return part.replace("(", " ").replace(")", " ").split()


def _length(word: str, lengths: Mapping[str, int]) -> int:
    return int(word) if word.isdecimal() else lengths.get(word, 1)


def _values(
    call: PatternCall, lengths: Mapping[str, int]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return what both tensors hold: einops itself does it."""
    shape = call.shape_with(lengths)
    x = torch.arange(math.prod(shape), dtype=torch.float64).reshape(shape)
    x = torch.ones_like(x) if call.ones else x
    more = (call.reduction,) if call.operation == "reduce" else ()
    y = getattr(einops, call.operation)(x, call.pattern, *more, **call.sizes)
    return x.numpy(), y.numpy()


def _cells(tokens: Sequence[AxisToken], values: npt.NDArray[np.float64] | None) -> Cells:
    groups = [
        [token for token in tokens if token.group == number]
        for number in dict.fromkeys(token.group for token in tokens)
    ]
    sizes = [token.size for token in tokens]
    shape = [math.prod(token.size for token in group) for group in groups]
    grid = np.indices(sizes, dtype=np.int64)
    along = {token.axis: part.reshape(shape) for token, part in zip(tokens, grid, strict=True)}
    dims = [" ".join(token.axis.split(" ")[0] for token in group) for group in groups]
    return Cells(
        dims=tuple(f"({name})" if " " in name else name for name in dims),
        along=along,
        values=None if values is None else values.reshape(shape),
    )


def annotated_dims(annotation: str, num_dims: int) -> tuple[str, ...]:
    """Return the words of an annotation as jaxtyping writes them, dots once for each dimension.

    Raises:
        ValueError: If a word is no name, number, "_" or "...", or "..." stands there twice.

    >>> annotated_dims("... d", 3)
    ('...', '...', 'd')
    """
    words = annotation.split()
    for word in words:
        if word not in {"_", "..."} and not word.isdecimal() and not word.isidentifier():
            message = _("{word} is not a valid name of a dimension; use names, numbers, _ or ....")
            raise ValueError(message.format(word=repr(word)))
    if words.count("...") > 1:
        raise ValueError(_("`...` may appear only once in an annotation."))
    if "..." in words:
        place = words.index("...")
        words[place : place + 1] = ["..."] * max(num_dims - len(words) + 1, 0)
    return tuple(words)


def first_mismatch(
    dims: Sequence[str], shape: Sequence[int], lengths: Mapping[str, int]
) -> tuple[str, int, int] | None:
    """Return the first dimension that is not as long as its name says: name, length, real length.

    A name stands for the length of the axis of this name, another one for the first that it meets.
    """
    bound = dict(lengths)
    for name, length in zip(dims, shape, strict=True):
        stands_for = int(name) if name.isdecimal() else bound.setdefault(name, length)
        if name not in {"_", "..."} and stands_for != length:
            return name, stands_for, length
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class RoundTrip:
    """What a pattern and the way back cost, and the tensor in between."""

    before: tuple[int, ...]
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    moved: int  # bytes that both read and write
    fresh_merge: int  # bytes of the way back alone if the tensor in between is fresh


def round_trip(there: PatternExample, back: PatternExample) -> RoundTrip:
    """Return what two patterns cost, the second on the result of the first."""
    lengths = dict(zip(axes_in(there.pattern), there.lengths, strict=True))
    call = PatternCall(operation=there.operation, pattern=there.pattern, lengths=lengths)
    first = plan_einops(there.operation, there.pattern, contiguous(call.shape), "", **lengths)
    between = first.steps[-1].layout
    second = plan_einops(back.operation, back.pattern, between, "", **lengths)
    fresh = plan_einops(back.operation, back.pattern, contiguous(between.shape), "", **lengths)
    return RoundTrip(
        before=call.shape,
        shape=between.shape,
        stride=between.stride,
        moved=first.bytes_moved + second.bytes_moved,
        fresh_merge=fresh.bytes_moved,
    )
