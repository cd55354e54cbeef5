"""A pattern and the one that undoes it: what both move, one after the other."""

from dataclasses import dataclass

from core.tensors.einops_plan import plan_einops
from core.tensors.layout import contiguous
from core.tensors.pattern_cells import PatternCall, axes_in
from core.tensors.pattern_examples import PatternExample


@dataclass(frozen=True, kw_only=True, slots=True)
class RoundTrip:
    """What a pattern and the way back cost.

    Attributes:
        before: Shape of `x`.
        shape, stride: Of the tensor in between.
        moved: Bytes that both read and write.
        fresh_merge: Bytes that the way back reads and writes if the tensor in between is fresh.
    """

    before: tuple[int, ...]
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    moved: int
    fresh_merge: int


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
