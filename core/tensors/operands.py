"""Tensors that are broadcast together: how each lies in memory, and how it is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.tensors import rules
from core.tensors.broadcasting import BroadcastVerdict, explain_broadcast
from core.tensors.layout import Layout, contiguous


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

    @property
    def num_reads(self) -> float:
        """How often each stored element is read; 0 if there is none."""
        return self.read.numel / self.stored.numel if self.stored.numel else 0


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
