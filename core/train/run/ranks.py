"""What the ranks of a run tell of a measured step, side by side: their memory and their talking.

The record is an event of kind "rank", one a rank, which rank 0 writes down; the bytes are those of
the step before, for watching them would slow what the seconds measure.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final, Self

from core.budget.item import Item, Number, counted, total
from core.budget.parallel.traffic import ALL_REDUCE, GATHER, RING, SCATTER, ZERO
from core.language import N_
from core.train.run.directory import EVENTS_FILE
from core.train.run.events import Event, parse_lines

_TAIL_BYTES: Final = 512 * 1024  # of a run's events: the newest measured step lies in them


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


def read_newest_rows(directory: Path) -> tuple[RankRow, ...]:
    """Return the rows of a run's newest measured step, from the end of its events; () if none."""
    try:
        with (directory / EVENTS_FILE).open("rb") as file:
            file.seek(max(file.seek(0, 2) - _TAIL_BYTES, 0))
            return newest_rows(parse_lines(file.read())[0])
    except OSError:
        return ()


def predicted_sent(
    num_params: int, bytes_per_value: int, *, count: int, sharding: str, passes: int
) -> Item:
    """Return what a rank sends in a step, as Parallelism counts it, `passes` accumulated.

    DDP adds the gradients up once a step. FSDP2 here does so too, and gathers the weights for each
    forward and each backward pass.
    """
    values: dict[str, Number] = {
        "num_ranks": count,
        "num_weights": num_params,
        "num_gradients": num_params,
        "gradient_bytes": bytes_per_value,
        "weight_bytes": bytes_per_value,
    }
    if sharding == "ddp":
        return counted(N_("all-reduce of gradients"), ALL_REDUCE, values, RING)
    scatter = counted(N_("reduce-scatter of gradients"), SCATTER, {**values, "num_times": 1}, ZERO)
    times = {**values, "num_times": 2 * passes}
    gather = counted(N_("all-gather of weights"), GATHER, times, ZERO)
    return total(N_("communication"), [scatter, gather], source=ZERO)
