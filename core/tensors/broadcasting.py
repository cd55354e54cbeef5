"""Which shapes go together, aligned from the right, and how tensors of them are read together."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.tensors import rules
from core.tensors.layout import Layout, contiguous


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """One dimension of all shapes and of the result."""

    dim: int  # counted from the right of the result: -1 is the last
    lengths: tuple[int | None, ...]  # of each shape; None where it has no such dimension
    length: int | None  # of the result; None if the lengths do not go together
    stretched: tuple[bool, ...]  # whether each shape is read again and again along it


@dataclass(frozen=True, kw_only=True, slots=True)
class BroadcastVerdict:
    """Whether shapes go together, and how."""

    ok: bool
    shape: tuple[int, ...]  # of the result; empty if they do not
    columns: tuple[Column, ...]  # from the left; those with `length` None are in the way


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
    """One of the tensors: its own layout, and how the operation reads it.

    It is read in the result's shape, with stride 0 where it is stretched.
    """

    name: str
    stored: Layout
    read: Layout


@dataclass(frozen=True, kw_only=True, slots=True)
class Broadcast:
    """Tensors that an elementwise operation takes together; no result if they do not go."""

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
    """Return how tensors of these shapes are read together; `itemsize` is in bytes."""
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


def matmul_sizes(left: Sequence[int], right: Sequence[int]) -> dict[str, int]:
    """Return what `left @ right` consists of, if it can be multiplied.

    `batch` counts the matrices of the result; a vector counts as a row or as a column.

    >>> matmul_sizes((4, 8, 16, 32), (32, 2))
    {'batch': 32, 'rows': 16, 'inner': 32, 'columns': 2}
    """
    num_outer = (len(left) > 1) + (len(right) > 1)
    shape = matmul_shape(left, right).shape
    return {
        "batch": math.prod(shape[: len(shape) - num_outer]),
        "rows": left[-2] if len(left) > 1 else 1,
        "inner": left[-1],
        "columns": right[-1] if len(right) > 1 else 1,
    }
