"""What the ranks of a run tell of a measured step, side by side: their memory and their talking.

The record is an event of kind "rank", one a rank, which rank 0 writes down; the bytes are those of
the step before, for watching them would slow what the seconds measure.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Self

from core.train.run.events import Event


@dataclass(frozen=True, kw_only=True, slots=True)
class RankRow:
    """One rank in one measured step.

    Attributes:
        count: How many ranks there were; a run may go on with another number.
        sharding: "ddp", or "fsdp2": then weights, gradients and optimizer are this rank's pieces.
        weights: Bytes by category, as in the event "memory" of a run of one process.
        step_seconds: Of the whole step.
        communication_seconds: In which a collective was under way, waiting for others included.
    """

    step: int
    rank: int
    count: int
    sharding: str
    weights: float
    gradients: float
    optimizer: float
    activations: float
    other: float
    peak: float
    step_seconds: float
    communication_seconds: float

    @classmethod
    def of(cls, event: Event) -> Self:
        """Return the row of an event of kind "rank"."""
        return cls(**{field.name: event[field.name] for field in fields(cls)})


def newest_rows(events: Iterable[Event]) -> tuple[RankRow, ...]:
    """Return the rows of the newest measured step, in the order of the ranks; () if none is whole.

    A kill may have left only some of a step's rows: those of the step before count then.
    """
    by_step: dict[tuple[object, int], dict[int, RankRow]] = {}
    for event in events:
        if event["kind"] == "rank":
            row = RankRow.of(event)
            by_step.setdefault((event.get("attempt"), row.step), {})[row.rank] = row
    for rows in reversed(by_step.values()):
        if len(rows) == next(iter(rows.values())).count:
            return tuple(rows[rank] for rank in sorted(rows))
    return ()
