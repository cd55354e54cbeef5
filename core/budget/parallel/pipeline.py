"""A pipeline in time: which micro-batch each stage works on, and how long it waits.

One forward, one backward (1F1B): a stage fills up, then does one backward pass for each forward
pass, so that it never holds more than `num_stages - stage` micro-batches (Narayanan et al. 2021,
section 2.2.1, figure 4). Interleaved (section 2.2.2), a stage has several runs of layers, its
virtual stages: it fills up sooner, waits a `num_virtual`th as long, and holds more.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from core.budget.check import check_range
from core.budget.cluster import Cluster
from core.budget.item import Formula, Item, estimated
from core.budget.share import check_groups
from core.language import N_

Pass = Literal["forward", "backward"]
SOURCE: Final = N_("Narayanan et al. 2021, section 2.2: one forward, one backward (1F1B)")
MAX_PASSES: Final = 20_000

_BUBBLE: Final = Formula("compute_seconds * (num_stages - 1) / num_microbatches")
_SHORT_BUBBLE: Final = Formula(
    "compute_seconds * (num_stages - 1) / (virtual_stages * num_microbatches)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Slot:
    """One pass of one micro-batch on one stage.

    Attributes:
        start: When it starts, in forward passes of one stage.
        run: Which of the stage's runs of layers, its virtual stages, from 0.
    """

    stage: int
    microbatch: int
    direction: Pass
    start: float
    end: float
    run: int = 0


def bubble(cluster: Cluster, num_microbatches: int) -> float:
    """Return the idle seconds for each second of compute: (stages - 1) / micro-batches.

    Virtual stages divide it by their number.
    """
    check_range("num_microbatches", num_microbatches, 1, 1_000_000)
    return (cluster.pipeline - 1) / (cluster.virtual_stages * num_microbatches)


def waiting_share(num_stages: int, num_microbatches: int, num_virtual: int = 1) -> float:
    """Return the share of a step in which a stage waits.

    >>> waiting_share(num_stages=4, num_microbatches=8)
    0.2727272727272727
    """
    check_range("num_microbatches", num_microbatches, 1, 1_000_000)
    return (num_stages - 1) / (num_virtual * num_microbatches + num_stages - 1)


def bubble_seconds(cluster: Cluster, num_microbatches: int, compute_seconds: float) -> Item:
    """Return how long a stage waits in one step; real stages are not quite equal."""
    check_range("num_microbatches", num_microbatches, 1, 1_000_000)
    values = {
        "compute_seconds": compute_seconds,
        "num_stages": cluster.pipeline,
        "virtual_stages": cluster.virtual_stages,
        "num_microbatches": num_microbatches,
    }
    rule = _BUBBLE if cluster.virtual_stages == 1 else _SHORT_BUBBLE
    return estimated(N_("pipeline bubble"), rule, values, SOURCE, 0.1, "s")


def schedule(
    num_stages: int, num_microbatches: int, backward: float = 2.0, num_virtual: int = 1
) -> tuple[tuple[Slot, ...], ...]:
    """Return the passes of each stage in order, timed as early as the passes they wait for allow.

    A forward pass of all layers of a stage takes 1, a backward pass `backward` as long.

    Raises:
        ValueError: If there are too many passes to lay out, or micro-batches that are interleaved
            are no multiple of the stages.
    """
    check_range("num_stages", num_stages, 1, MAX_PASSES)
    check_range("num_microbatches", num_microbatches, 1, MAX_PASSES)
    check_range("num_virtual", num_virtual, 1, MAX_PASSES)
    num_passes = num_microbatches * num_virtual
    check_range("num_stages * num_microbatches", num_stages * num_passes, 1, MAX_PASSES)
    check_groups(num_stages, num_virtual, num_microbatches)
    clock = _Clock(num_stages, num_virtual, backward)
    waiting = [
        list(_order(num_stages, num_passes, num_virtual, stage)) for stage in range(num_stages)
    ]
    while any(waiting):
        for stage, passes in enumerate(waiting):
            while passes and clock.has_taken(stage, *passes[0]):
                passes.pop(0)
    return tuple(map(tuple, clock.slots))


class _Turn(NamedTuple):
    """A pass before it is timed: its micro-batch, its run of layers, its direction."""

    microbatch: int
    run: int
    direction: Pass


def _order(num_stages: int, num_passes: int, num_virtual: int, stage: int) -> Iterator[_Turn]:
    """Yield a stage's passes: fill up, then one forward and one backward in turn, then empty."""

    def turn(number: int, direction: Pass) -> _Turn:
        """Return the number-th pass: as many micro-batches as stages through each run in turn."""
        if num_virtual == 1:
            return _Turn(number, 0, direction)
        group, place = divmod(number, num_stages * num_virtual)
        run, member = divmod(place, num_stages)
        last_first = num_virtual - 1 - run if direction == "backward" else run
        return _Turn(group * num_stages + member, last_first, direction)

    behind = num_stages - stage - 1
    wanted = behind if num_virtual == 1 else 2 * behind + (num_virtual - 1) * num_stages
    ahead = min(wanted, num_passes)
    for forward in range(ahead):
        yield turn(forward, "forward")
    for forward in range(ahead, num_passes):
        yield turn(forward, "forward")
        yield turn(forward - ahead, "backward")
    for backward in range(num_passes - ahead, num_passes):
        yield turn(backward, "backward")


class _Clock:
    """The passes that are timed so far."""

    def __init__(self, num_stages: int, num_virtual: int, backward: float) -> None:
        self.slots: list[list[Slot]] = [[] for _stage in range(num_stages)]
        self._num_runs = num_stages * num_virtual
        self._seconds: dict[Pass, float] = {
            "forward": 1.0 / num_virtual,
            "backward": backward / num_virtual,
        }
        self._ends: dict[tuple[int, int, Pass], float] = {}

    def has_taken(self, stage: int, microbatch: int, run: int, direction: Pass) -> bool:
        """Time a pass, unless what it waits for is not timed yet."""
        ready = 0.0
        place = run * len(self.slots) + stage
        neighbour = place - 1 if direction == "forward" else place + 1
        if 0 <= neighbour < self._num_runs:
            if (neighbour, microbatch, direction) not in self._ends:
                return False
            ready = self._ends[neighbour, microbatch, direction]
        before = self.slots[stage][-1].end if self.slots[stage] else 0.0
        start = max(ready, before)
        end = start + self._seconds[direction]
        slot = Slot(
            stage=stage, microbatch=microbatch, direction=direction, start=start, end=end, run=run
        )
        self.slots[stage].append(slot)
        self._ends[place, microbatch, direction] = end
        return True


def part_to_draw(
    cluster: Cluster, num_microbatches: int, most_stages: int, most_microbatches: int
) -> tuple[int, int]:
    """Return how many stages and micro-batches of a schedule there is room for.

    Interleaved micro-batches come in groups of as many as there are stages.
    """
    stages = min(cluster.pipeline, most_stages)
    batches = min(num_microbatches, most_microbatches)
    if cluster.virtual_stages > 1:
        batches = max(stages, batches // stages * stages)
    return stages, batches


def most_held(slots: tuple[Slot, ...]) -> int:
    """Return how many forward passes a stage holds activations of, at most."""
    held = most = 0
    for slot in slots:
        held += 1 if slot.direction == "forward" else -1
        most = max(most, held)
    return most
