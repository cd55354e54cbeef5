"""Which shapes go together, aligned from the right, and how tensors of them are read together."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.tensors import rules
from core.tensors.layout import Layout, contiguous


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """One dimension of all shapes, counted from the right: -1 is the last.

    Attributes:
        dim: Where, in the result.
        lengths: Of each shape; None where it has no such dimension.
        length: Of the result; None if the lengths do not go together.
        stretched: Whether each shape is read again and again along it, with stride 0; where the
            result has length 1, none is.
    """

    dim: int
    lengths: tuple[int | None, ...]
    length: int | None
    stretched: tuple[bool, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class BroadcastVerdict:
    """Whether shapes go together, and how.

    Attributes:
        ok: Whether they do.
        shape: Of the result; empty if they do not.
        columns: From the left; those with `length` None are in the way.
    """

    ok: bool
    shape: tuple[int, ...]
    columns: tuple[Column, ...]


def explain_broadcast(*shapes: Sequence[int]) -> BroadcastVerdict:
    """Align shapes from the right and say which dimensions stretch and which forbid it.

    >>> explain_broadcast((3, 1), (1, 4)).shape
    (3, 4)
    """
    num_dims = max(map(len, shapes), default=0)
    columns = tuple(_column(shapes, dim) for dim in range(-num_dims, 0))
    lengths = [column.length for column in columns if column.length is not None]
    ok = len(lengths) == num_dims
    return BroadcastVerdict(ok=ok, shape=tuple(lengths) if ok else (), columns=columns)


def _column(shapes: Sequence[Sequence[int]], dim: int) -> Column:
    lengths = tuple(shape[dim] if len(shape) >= -dim else None for shape in shapes)
    longer = {length for length in lengths if length not in {None, 1}}
    length = None if len(longer) > 1 else (longer or {1}).pop()
    stretched = tuple(length not in {None, 1, each} for each in lengths)
    return Column(dim=dim, lengths=lengths, length=length, stretched=stretched)


@dataclass(frozen=True, kw_only=True, slots=True)
class Operand:
    """One of the tensors.

    Attributes:
        name: As in the program: "a".
        stored: Its own layout, contiguous.
        read: How the operation reads it: the result's shape, stride 0 where it is stretched; its
            own layout if the shapes do not go together.
    """

    name: str
    stored: Layout
    read: Layout


@dataclass(frozen=True, kw_only=True, slots=True)
class Broadcast:
    """Tensors that an elementwise operation takes together.

    Attributes:
        verdict: Whether their shapes go together, and how.
        operands: In order.
        result: A fresh tensor; None if the shapes do not go together.
    """

    verdict: BroadcastVerdict
    operands: tuple[Operand, ...]
    result: Layout | None

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shapes of the operands."""
        return tuple(each.stored.shape for each in self.operands)

    @property
    def stretched_bytes(self) -> int:
        """Bytes of the operands that are stretched, were each written out in the result's shape."""
        return sum(
            each.read.num_bytes for each in self.operands if each.read.numel != each.stored.numel
        )


def broadcast(shapes: Mapping[str, Sequence[int]], itemsize: int) -> Broadcast:
    """Return how tensors of these shapes are read together.

    Args:
        shapes: By name.
        itemsize: Bytes of an element, of all of them.
    """
    verdict = explain_broadcast(*shapes.values())
    operands = []
    for name, shape in shapes.items():
        stored = contiguous(shape, itemsize)
        read = rules.expand(stored, verdict.shape) if verdict.ok else stored
        operands.append(Operand(name=name, stored=stored, read=read))
    result = contiguous(verdict.shape, itemsize) if verdict.ok else None
    return Broadcast(verdict=verdict, operands=tuple(operands), result=result)


def matmul_shape(left: Sequence[int], right: Sequence[int]) -> BroadcastVerdict:
    """Return how `left @ right` goes: batches broadcast, the inner lengths must be equal.

    A vector on the left counts as a row, on the right as a column; its 1 is dropped at the end.
    The last column holds the inner lengths, which the result does not have; those before it are the
    batches, counted from the right of the result. A tensor without dimensions has no product.

    >>> matmul_shape((4, 8, 16, 32), (32, 2)).shape
    (4, 8, 16, 2)
    """
    if not left or not right:
        return BroadcastVerdict(ok=False, shape=(), columns=())
    rows = (1, *left) if len(left) == 1 else tuple(left)
    cols = (*right, 1) if len(right) == 1 else tuple(right)
    batch = explain_broadcast(rows[:-2], cols[:-2])
    is_joined = rows[-1] == cols[-2]
    outer = (*rows[-2:-1],) * (len(left) > 1) + (*cols[-1:],) * (len(right) > 1)
    batches = (replace(each, dim=each.dim - len(outer)) for each in batch.columns)
    inner = Column(
        dim=-1,
        lengths=(rows[-1], cols[-2]),
        length=rows[-1] if is_joined else None,
        stretched=(False, False),
    )
    ok = batch.ok and is_joined
    shape = (*batch.shape, *outer) if ok else ()
    return BroadcastVerdict(ok=ok, shape=shape, columns=(*batches, inner))


@dataclass(frozen=True, kw_only=True, slots=True)
class MatmulSizes:
    """What a product of matrices consists of.

    Attributes:
        batch: Lengths of the batch dimensions of the result.
        rows: Of each left matrix.
        inner: Length that is summed over.
        columns: Of each right matrix.
    """

    batch: tuple[int, ...]
    rows: int
    inner: int
    columns: int

    @property
    def num_products(self) -> int:
        """How many matrices the result consists of; 1 without batch dimensions."""
        return math.prod(self.batch)


def matmul_sizes(left: Sequence[int], right: Sequence[int]) -> MatmulSizes:
    """Return the sizes of `left @ right`; a vector counts as a row or as a column.

    >>> matmul_sizes((4, 8, 16, 32), (32, 2))
    MatmulSizes(batch=(4, 8), rows=16, inner=32, columns=2)

    Raises:
        ValueError: If the shapes cannot be multiplied.
    """
    verdict = matmul_shape(left, right)
    if not verdict.ok:
        message = f"{tuple(left)} @ {tuple(right)}: see matmul_shape for what forbids it"
        raise ValueError(message)
    num_outer = (len(left) > 1) + (len(right) > 1)
    return MatmulSizes(
        batch=verdict.shape[: len(verdict.shape) - num_outer],
        rows=left[-2] if len(left) > 1 else 1,
        inner=left[-1],
        columns=right[-1] if len(right) > 1 else 1,
    )
