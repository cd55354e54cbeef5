"""The short of a simulated step, small enough for a page."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final, NamedTuple

from core.budget.simulation.timeline import KINDS, Holding, StepTimeline

NUM_POINTS: Final = 400
NUM_HOLDINGS: Final = 12


class Point(NamedTuple):
    """One moment of the step.

    Attributes:
        place: Which event it is, from 0.
        phase: Forward, backward, recompute or optimizer step.
        op: The operation.
        module: Its module.
        saved: Bytes of saved activations.
        gradients: Bytes of gradients.
        temporary: Bytes of everything else that was born in the step.
    """

    place: int
    phase: str
    op: str
    module: str
    saved: int
    gradients: int
    temporary: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StepReport:
    """A simulated step in a few hundred moments; the peak is one of them.

    Attributes:
        base: Bytes that live between steps, by name.
        points: In order; each is the highest of its stretch.
        peak: Bytes at the highest moment, those between steps included.
        peak_place: Which point that is.
        holdings: Who holds the memory at the peak, the largest first.
        num_events: Operations that changed the memory.
        forward_bytes: Bytes that the forward pass left.
        seconds: What the simulation took.
    """

    base: Mapping[str, int]
    points: tuple[Point, ...]
    peak: int
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
