"""A pipeline in time: which micro-batch each stage works on, and how long it waits.

One forward, one backward (1F1B): a stage fills up, then does one backward pass for each forward
pass, so that it never holds more than `num_stages - stage` micro-batches (Narayanan et al. 2021,
section 2.2.1, figure 4).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from core.budget.check import check_range
from core.budget.cluster import Cluster
from core.budget.item import Formula, Item, item
from core.language import N_

Pass = Literal["forward", "backward"]
SOURCE: Final = N_("Narayanan et al. 2021, section 2.2: one forward, one backward (1F1B)")
MAX_PASSES: Final = 20_000

_BUBBLE: Final = Formula("compute_seconds * (num_stages - 1) / num_microbatches")


@dataclass(frozen=True, kw_only=True, slots=True)
class Slot:
    """One pass of one micro-batch on one stage.

    Attributes:
        stage: The stage, from 0.
        microbatch: The micro-batch, from 0.
        direction: forward or backward.
        start: When it starts, in forward passes of one stage.
        end: When it ends.
    """

    stage: int
    microbatch: int
    direction: Pass
    start: float
    end: float


def bubble(cluster: Cluster, num_microbatches: int) -> float:
    """Return the idle seconds for each second of compute: (stages - 1) / micro-batches."""
    check_range("num_microbatches", num_microbatches, 1, 1_000_000)
    return (cluster.pipeline - 1) / num_microbatches


def waiting_share(num_stages: int, num_microbatches: int) -> float:
    """Return the share of a step in which a stage waits.

    >>> waiting_share(num_stages=4, num_microbatches=8)
    0.2727272727272727
    """
    check_range("num_microbatches", num_microbatches, 1, 1_000_000)
    return (num_stages - 1) / (num_microbatches + num_stages - 1)


def bubble_seconds(cluster: Cluster, num_microbatches: int, compute_seconds: float) -> Item:
    """Return how long a stage waits in one step; real stages are not quite equal."""
    check_range("num_microbatches", num_microbatches, 1, 1_000_000)
    values = {
        "compute_seconds": compute_seconds,
        "num_stages": cluster.pipeline,
        "num_microbatches": num_microbatches,
    }
    return item(
        N_("pipeline bubble"), _BUBBLE, values, unit="s", source=SOURCE, kind="estimated", band=0.1
    )


def schedule(
    num_stages: int, num_microbatches: int, backward: float = 2.0
) -> tuple[tuple[Slot, ...], ...]:
    """Return the passes of each stage in order, timed as early as the passes they wait for allow.

    A forward pass takes 1, a backward pass `backward` as long.

    Raises:
        ValueError: If there are too many passes to lay out.
    """
    check_range("num_stages", num_stages, 1, MAX_PASSES)
    check_range("num_microbatches", num_microbatches, 1, MAX_PASSES)
    check_range("num_stages * num_microbatches", num_stages * num_microbatches, 1, MAX_PASSES)
    clock = _Clock(num_stages, backward)
    waiting = [list(_order(num_stages, num_microbatches, stage)) for stage in range(num_stages)]
    while any(waiting):
        for stage, passes in enumerate(waiting):
            while passes and clock.has_taken(stage, *passes[0]):
                passes.pop(0)
    return tuple(map(tuple, clock.slots))


def _order(num_stages: int, num_microbatches: int, stage: int) -> Iterator[tuple[int, Pass]]:
    """Yield a stage's passes: fill up, then one forward and one backward in turn, then empty."""
    ahead = min(num_stages - stage - 1, num_microbatches)
    for forward in range(ahead):
        yield forward, "forward"
    for forward in range(ahead, num_microbatches):
        yield forward, "forward"
        yield forward - ahead, "backward"
    for backward in range(num_microbatches - ahead, num_microbatches):
        yield backward, "backward"


class _Clock:
    """The passes that are timed so far."""

    def __init__(self, num_stages: int, backward: float) -> None:
        self.slots: list[list[Slot]] = [[] for _stage in range(num_stages)]
        self._seconds: dict[Pass, float] = {"forward": 1.0, "backward": backward}
        self._ends: dict[tuple[int, int, Pass], float] = {}

    def has_taken(self, stage: int, microbatch: int, direction: Pass) -> bool:
        """Time a pass, unless what it waits for is not timed yet."""
        ready = 0.0
        neighbour = stage - 1 if direction == "forward" else stage + 1
        if 0 <= neighbour < len(self.slots):
            if (neighbour, microbatch, direction) not in self._ends:
                return False
            ready = self._ends[neighbour, microbatch, direction]
        before = self.slots[stage][-1].end if self.slots[stage] else 0.0
        start = max(ready, before)
        end = start + self._seconds[direction]
        slot = Slot(stage=stage, microbatch=microbatch, direction=direction, start=start, end=end)
        self.slots[stage].append(slot)
        self._ends[stage, microbatch, direction] = end
        return True


def most_held(slots: tuple[Slot, ...]) -> int:
    """Return how many micro-batches a stage holds activations of, at most."""
    held = most = 0
    for slot in slots:
        held += 1 if slot.direction == "forward" else -1
        most = max(most, held)
    return most
