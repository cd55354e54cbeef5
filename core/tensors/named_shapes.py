"""Shapes in names, as jaxtyping writes them: "b t d" beside a tensor, checked against real shapes.

A name is bound to the first length that it meets; a number, `_` and `...` bind nothing. An
annotation is no check: torch runs whatever broadcasts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from core.language import _

ANY: Final = "_"
DOTS: Final = "..."


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedDim:
    """One dimension of a tensor beside its name.

    Attributes:
        tensor: Name of the tensor.
        name: What the annotation says: a name, a number, "_" or "...".
        length: Of the real dimension.
        bound_to: The length that the name stands for; None where it stands for nothing.
        bound_by: The tensor that has bound it.
    """

    tensor: str
    name: str
    length: int
    bound_to: int | None = None
    bound_by: str = ""

    @property
    def ok(self) -> bool:
        """Whether the length is what the name stands for."""
        return self.bound_to in {None, self.length}


@dataclass(frozen=True, kw_only=True, slots=True)
class ShapeVerdict:
    """What a check says of all tensors.

    Attributes:
        rows: For each tensor its dimensions; none where the number of dimensions is wrong.
        bindings: Name -> the length that it stands for, and the tensor that has bound it.
        kind: "ok", "length" or "rank": the first mismatch in the order of the tensors.
        mismatch: The first dimension that is not as long as its name says.
        wrong_rank: The first tensor with another number of dimensions than names.
    """

    rows: Mapping[str, tuple[NamedDim, ...]]
    bindings: Mapping[str, tuple[int, str]]
    kind: Literal["ok", "length", "rank"] = "ok"
    mismatch: NamedDim | None = None
    wrong_rank: str = ""


def check_annotations(
    annotations: Mapping[str, str], shapes: Mapping[str, Sequence[int]]
) -> ShapeVerdict:
    """Check shapes against annotations, tensor by tensor from the left.

    Args:
        annotations: Tensor -> names of its dimensions with spaces between: "b t d", "b 1 d",
            "... d". As in jaxtyping, "_" is any length and "..." any number of dimensions.
        shapes: Tensor -> its shape.

    Raises:
        ValueError: If an annotation has a word that is no name, or "..." twice.

    >>> verdict = check_annotations({"x": "b t", "y": "t b"}, {"x": (2, 3), "y": (3, 4)})
    >>> verdict.mismatch.name, verdict.mismatch.bound_to, verdict.mismatch.length
    ('b', 2, 4)
    """
    bound: dict[str, tuple[int, str]] = {}
    rows: dict[str, tuple[NamedDim, ...]] = {}
    wrong = ""
    for tensor, text in annotations.items():
        names = _names(text, len(shapes[tensor]))
        if names is None:
            rows[tensor], wrong = (), wrong or tensor
            continue
        pairs = zip(names, shapes[tensor], strict=True)
        rows[tensor] = tuple(_dim(tensor, name, length, bound) for name, length in pairs)
    return _verdict(rows, bound, wrong)


def _verdict(
    rows: Mapping[str, tuple[NamedDim, ...]], bound: Mapping[str, tuple[int, str]], wrong: str
) -> ShapeVerdict:
    order = list(rows)
    first = next((dim for row in rows.values() for dim in row if not dim.ok), None)
    if wrong and (first is None or order.index(wrong) < order.index(first.tensor)):
        return ShapeVerdict(rows=rows, bindings=bound, kind="rank", wrong_rank=wrong)
    kind: Literal["ok", "length"] = "ok" if first is None else "length"
    return ShapeVerdict(rows=rows, bindings=bound, kind=kind, mismatch=first)


def _names(text: str, rank: int) -> tuple[str, ...] | None:
    """Return one name for each dimension; None if there are more or fewer."""
    words = text.split()
    for word in words:
        if word not in {ANY, DOTS} and not word.isdecimal() and not word.isidentifier():
            message = _("{word} is not a valid name of a dimension; use names, numbers, _ or ....")
            raise ValueError(message.format(word=repr(word)))
    if words.count(DOTS) > 1:
        raise ValueError(_("`...` may appear only once in an annotation."))
    if DOTS in words:
        place, num_free = words.index(DOTS), rank - len(words) + 1
        words[place : place + 1] = [DOTS] * max(num_free, 0)
    return tuple(words) if len(words) == rank else None


def _dim(tensor: str, name: str, length: int, bound: dict[str, tuple[int, str]]) -> NamedDim:
    if name in {ANY, DOTS}:
        return NamedDim(tensor=tensor, name=name, length=length)
    if name.isdecimal():
        return NamedDim(tensor=tensor, name=name, length=length, bound_to=int(name))
    to, by = bound.setdefault(name, (length, tensor))
    return NamedDim(tensor=tensor, name=name, length=length, bound_to=to, bound_by=by)
