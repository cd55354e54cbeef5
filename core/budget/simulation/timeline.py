"""What a simulated step tells: bytes after every operation, who made them, and the short of it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final, NamedTuple

FORWARD: Final = "forward"
BACKWARD: Final = "backward"
RECOMPUTE: Final = "recompute"
OPTIMIZER: Final = "optimizer step"
SAVED: Final = "saved activations"
GRADIENT: Final = "gradients"
TEMPORARY: Final = "temporary"
KINDS: Final = (SAVED, GRADIENT, TEMPORARY)
NUM_POINTS: Final = 400
NUM_HOLDINGS: Final = 12


class StepEvent(NamedTuple):
    """One operation that changed how much memory is in use."""

    op: str  # as torch's dispatcher names it: "aten.mm"
    module: str  # the module that ran it: "blocks.3.attention.q"; "" outside all of them
    phase: str
    live: int  # bytes in use after it, what lives between steps included


class Allocation(NamedTuple):
    """One storage that was born within the step."""

    num_bytes: int
    born: int
    died: int  # the first event after its end; the number of events if it outlives the step
    kind: str
    # the module whose operation first saved it for the backward pass; "" if none did, or if
    # checkpointing kept it
    saver: str = ""


class Holding(NamedTuple):
    """What one kind of storage, made by one operation of one module, comes to."""

    num_bytes: int
    times: int
    kind: str
    op: str
    module: str  # the module, with "*" in place of a layer's number
    saver: str  # the module that saved them for the backward pass, likewise; "" if none did


@dataclass(frozen=True, kw_only=True)
class StepTimeline:
    """A training step, operation by operation."""

    events: tuple[StepEvent, ...]
    allocations: tuple[Allocation, ...]
    # what lives between steps, in bytes: weights, optimizer states, token ids
    base: Mapping[str, int]

    @cached_property
    def peak_index(self) -> int:
        """The first event with the most bytes in use."""
        return max(range(len(self.events)), key=lambda index: self.events[index].live)

    @property
    def peak(self) -> int:
        """The most bytes in use at once."""
        return self.events[self.peak_index].live

    @property
    def forward_bytes(self) -> int:
        """Bytes that the last forward pass left for its backward pass, gradients apart."""
        last = max(i for i, event in enumerate(self.events) if event.phase == FORWARD)
        return sum(each.num_bytes for each in self._alive(last) if each.kind != GRADIENT)

    def curve(self, kind: str) -> tuple[int, ...]:
        """Return the bytes of one kind after every event."""
        change = [0] * (len(self.events) + 1)
        for each in self.allocations:
            if each.kind == kind:
                change[each.born] += each.num_bytes
                change[each.died] -= each.num_bytes
        return tuple(accumulate(change[:-1]))

    def holdings(self, index: int) -> tuple[Holding, ...]:
        """Return who holds the memory after an event, the largest first; layers are folded."""
        found: dict[tuple[str, str, str, str], list[int]] = {}
        for each in self._alive(index):
            event = self.events[each.born]
            key = (each.kind, event.op, fold_layers(event.module), fold_layers(each.saver))
            found.setdefault(key, []).append(each.num_bytes)
        rows = [Holding(sum(sizes), len(sizes), *key) for key, sizes in found.items()]
        return tuple(sorted(rows, key=lambda row: -row.num_bytes))

    def _alive(self, index: int) -> tuple[Allocation, ...]:
        return tuple(each for each in self.allocations if each.born <= index < each.died)


def fold_layers(module: str) -> str:
    """Return a module's path without the number of its layer.

    >>> fold_layers("blocks.31.attention.q")
    'blocks.*.attention.q'
    """
    return ".".join("*" if part.isdigit() else part for part in module.split("."))


class Point(NamedTuple):
    """One moment of the step."""

    place: int
    phase: str
    op: str
    module: str
    saved: int
    gradients: int
    temporary: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StepReport:
    """A simulated step in a few hundred moments; the peak is one of them."""

    base: Mapping[str, int]  # bytes that live between steps, by name
    points: tuple[Point, ...]
    peak: int  # bytes at the highest moment, those between steps included
    peak_place: int
    holdings: tuple[Holding, ...]
    num_events: int
    forward_bytes: int
    seconds: float

    @property
    def peak_point(self) -> Point:
        """The highest moment."""
        return self.points[self.peak_place]

    @property
    def persistent(self) -> int:
        """Bytes that live between steps."""
        return sum(self.base.values())


def report_of(timeline: StepTimeline, seconds: float) -> StepReport:
    """Return the short of a timeline: of each stretch of it the highest moment."""
    events = timeline.events
    chosen = _highest_of_stretches([event.live for event in events], timeline.peak_index)
    curves = [timeline.curve(kind) for kind in KINDS]
    points = tuple(
        Point(i, events[i].phase, events[i].op, events[i].module, *(curve[i] for curve in curves))
        for i in chosen
    )
    return StepReport(
        base=dict(timeline.base),
        points=points,
        peak=timeline.peak,
        peak_place=chosen.index(timeline.peak_index),
        holdings=timeline.holdings(timeline.peak_index)[:NUM_HOLDINGS],
        num_events=len(events),
        forward_bytes=timeline.forward_bytes,
        seconds=seconds,
    )


def _highest_of_stretches(live: list[int], peak: int) -> list[int]:
    length = -(-len(live) // NUM_POINTS)
    stretches = [range(i, min(i + length, len(live))) for i in range(0, len(live), length)]
    highest = {max(stretch, key=lambda i: live[i]) for stretch in stretches}
    return sorted(highest | {0, len(live) - 1, peak})


def write_report(report: StepReport) -> str:
    """Return a report as one line of JSON."""
    return json.dumps(asdict(report))


def read_report(line: str) -> StepReport:
    """Return the report of a line that `write_report` made."""
    fields = json.loads(line)
    fields["points"] = tuple(Point(*point) for point in fields["points"])
    fields["holdings"] = tuple(Holding(*holding) for holding in fields["holdings"])
    return StepReport(**fields)
