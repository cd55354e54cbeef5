"""Short programs and what the allocator does at each of their lines."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from core.budget.training.caching_allocator import AllocatorState
from core.language import N_
from core.units import KIB, MIB

CAPACITY: Final = 256 * MIB


class Line(NamedTuple):
    """A line of a program.

    Attributes:
        code: What it says.
        frees: Tensors whose last reference is gone after it.
        makes: Name and bytes of the tensors that it makes.
        call: "empty_cache" or "reset_peak", if it calls that.
        note: A sentence about it, an English message id.
    """

    code: str
    note: str
    makes: tuple[tuple[str, int], ...] = ()
    frees: tuple[str, ...] = ()
    call: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """The allocator after a line; `error` is what torch raised, "" if nothing."""

    line: Line
    state: AllocatorState
    error: str = ""


STORIES: Final[Mapping[str, tuple[Line, ...]]] = {
    "two": (
        Line(
            'a = torch.zeros(32, 32, device="cuda")',
            N_("1,024 fp32 numbers are 4,096 bytes; the driver gives no less than 2 MiB."),
            (("a", 4 * KIB),),
        ),
        Line(
            'b = torch.zeros(32, 32, device="cuda")',
            N_("The second one comes from the same segment: nobody asks the driver."),
            (("b", 4 * KIB),),
        ),
    ),
    "del": (
        Line('a = torch.empty(40 << 20, dtype=torch.uint8, device="cuda")',
             N_("From 10 MiB on, a tensor gets a segment of its own."), (("a", 40 * MIB),)),
        Line('b = torch.empty(60 << 20, dtype=torch.uint8, device="cuda")',
             N_("Another segment."), (("b", 60 * MIB),)),
        Line("v = b[:10]", N_("A view is no new memory, but it holds the whole of b.")),
        Line("del a", N_("The block is free; the segment stays reserved, ready for the next one."),
             (), ("a",)),
        Line("torch.cuda.empty_cache()",
             N_("Free segments go back to the driver; tensors that live are never touched."),
             (), (), "empty_cache"),
        Line("del b; torch.cuda.empty_cache()",
             N_("The view still holds b: neither del nor gc nor empty_cache frees one byte."),
             (), (), "empty_cache"),
        Line("del v; torch.cuda.empty_cache()",
             N_("With the last reference the block is free, and now the segment can go."),
             (), ("b",), "empty_cache"),
    ),
    "step": (
        Line("model = Model().cuda()", N_("The weights live as long as the model."),
             (("weights", 48 * MIB),)),
        Line("loss = model(x)", N_("The forward pass leaves what the backward pass will need."),
             (("activations", 80 * MIB),)),
        Line("loss.backward()", N_("Gradients come, activations go: the peak lies between."),
             (("gradients", 48 * MIB),), ("activations",)),
        Line("optimizer.step()", N_("The states come with the first step; foreach needs a copy."),
             (("states", 40 * MIB), ("copy", 40 * MIB)), ("copy",)),
        Line("optimizer.zero_grad()", N_("Allocated falls; reserved keeps what the step needed."),
             (), ("gradients",)),
        Line("torch.cuda.reset_peak_memory_stats()",
             N_("max_memory_allocated() now starts again from what is allocated."),
             (), (), "reset_peak"),
    ),
    "grow": (
        Line("x = batch(40)", N_("A batch of 40 MiB."), (("x", 40 * MIB),)),
        Line("del x", N_("Free, and reserved."), (), ("x",)),
        Line("x = batch(50)", N_("It does not fit into 40: a new segment."), (("x", 50 * MIB),)),
        Line("del x", N_("Two free segments."), (), ("x",)),
        Line("x = batch(60)", N_("Each batch is longer than every segment before."),
             (("x", 60 * MIB),)),
        Line("del x", N_("150 MiB are reserved, and none of them is in use."), (), ("x",)),
        Line("x = batch(70)", N_("Reserved 220 MiB for 70: padding to one length would need 70."),
             (("x", 70 * MIB),)),
        Line("y = batch(100)",
             N_("The driver has too little: torch first gives back all free segments, then asks."),
             (("y", 100 * MIB),)),
    ),
    "holes": (
        Line("a = new(90)", N_("A segment of 90 MiB."), (("a", 90 * MIB),)),
        Line("del a", N_("It is free."), (), ("a",)),
        Line("b, c, d = new(30), new(30), new(30)", N_("Three tensors are cut from it."),
             (("b", 30 * MIB), ("c", 30 * MIB), ("d", 30 * MIB))),
        Line("e = new(90)", N_("The next one needs a segment of its own."), (("e", 90 * MIB),)),
        Line("del b, d", N_("60 MiB are free, in two holes beside c."), (), ("b", "d")),
        Line("f = new(50)",
             N_("50 MiB fit into no hole of 30: the driver must give more."),
             (("f", 50 * MIB),)),
        Line("g = new(50)",
             N_("60 MiB are idle and 50 are asked for: out of memory by fragmentation."),
             (("g", 50 * MIB),)),
    ),
    "leftover": (
        Line("model = Model().cuda()", N_("The first model."), (("model 1", 130 * MIB),)),
        Line("model = Model().cuda()",
             N_("The new one is built before the name lets go of the old: both must fit."),
             (("model 2", 130 * MIB),)),
        Line("del model", N_("Let go first …"), (), ("model 1",)),
        Line("model = Model().cuda()", N_("… and the same block is used again."),
             (("model 2", 130 * MIB),)),
    ),
}  # fmt: skip
"""Key, as in a link -> program. A line that fails ends nothing: the next one is tried."""


def replay(story: str) -> tuple[Moment, ...]:
    """Return the allocator after each line of a story.

    Raises:
        KeyError: If there is no such story.
    """
    state = AllocatorState(capacity=CAPACITY)
    moments = []
    for line in STORIES[story]:
        state, error = _run(state, line)
        moments.append(Moment(line=line, state=state, error=error))
    return tuple(moments)


def _run(state: AllocatorState, line: Line) -> tuple[AllocatorState, str]:
    before = state
    try:
        for name, num_bytes in line.makes:
            state = state.allocate(name, num_bytes)
    except MemoryError as error:
        return before, str(error)
    for name in line.frees:
        state = state.free(name)
    if line.call == "empty_cache":
        state = state.empty_cache()
    return (state.reset_peak() if line.call == "reset_peak" else state), ""
