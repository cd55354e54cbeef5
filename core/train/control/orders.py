"""What commands have asked for that outlives the worker that heard them.

Every answered command is an `ack` event. A worker that goes on from a checkpoint repeats the
learning-rate changes that were acknowledged after it, each at the step it was acknowledged for:
the run then is what it would have been without the crash. A newer change ends that repetition.
Pause, resume, one step and stop are not repeated: whoever resumes a run wants it to run.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from core.train.config import JSON
from core.train.control.commands import Command, last_acknowledged
from core.train.run.events import Event, read_events
from core.train.run.store import RunStore

_MULTIPLIER: Final = "set_learning_rate_multiplier"
_GOVERNOR: Final = "set_max_steps_per_second"

Changes = tuple[tuple[int, float], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Orders:
    """The commands' lasting effect; each (step, multiplier) of changes counts from that step."""

    last_command: int = 0
    multiplier_changes: Changes = ()
    max_steps_per_second: float | None = None

    def to_json(self) -> JSON:
        """Return plain data for a checkpoint."""
        return {
            "last_command": self.last_command,
            "multiplier_changes": [list(change) for change in self.multiplier_changes],
            "max_steps_per_second": self.max_steps_per_second,
        }

    @classmethod
    def from_json(cls, data: JSON) -> "Orders":
        """Return the orders that `to_json` wrote."""
        limit = data["max_steps_per_second"]
        return cls(
            last_command=int(data["last_command"]),
            multiplier_changes=tuple(
                (int(step), float(value)) for step, value in data["multiplier_changes"]
            ),
            max_steps_per_second=None if limit is None else float(limit),
        )


def standing_orders(directory: Path, saved: Orders) -> Orders:
    """Return the orders that hold for a worker which goes on from a checkpoint.

    `saved`: what the checkpoint says, or the config before the first one. It wins only where
        the events know less: they may have been lost with the disk.
    """
    events = read_events(directory)
    last = last_acknowledged(events)
    if last < saved.last_command:
        return saved
    acks = [event for event in events if event["kind"] == "ack" and event.get("accepted")]
    limits = [ack.get("value") for ack in acks if ack["op"] == _GOVERNOR]
    return Orders(
        last_command=last,
        multiplier_changes=multiplier_changes(acks),
        max_steps_per_second=limits[-1] if limits else saved.max_steps_per_second,
    )


def multiplier_changes(acks: Iterable[Event]) -> Changes:
    """Return from which step on which multiplier counts.

    A change that was acknowledged later, for an earlier step, was made by someone who saw the run
    go on from a checkpoint: it replaces what had been planned from that step on.
    """
    changes: list[tuple[int, float]] = []
    for ack in acks:
        if ack["op"] == _MULTIPLIER and ack.get("value") is not None:
            kept = [change for change in changes if change[0] < ack["step"]]
            changes = [*kept, (ack["step"], ack["value"])]
    return tuple(changes)


def acknowledge(store: RunStore, command: Command, step: int) -> None:
    """Answer a command.

    `step`: the step just completed. A new setting first counts for the one that comes.
    """
    store.append_event(
        "ack",
        step + (1 if command.op.startswith("set_") else 0),
        command=command.number,
        op=command.op,
        value=command.value,
        accepted=not command.error,
        reason=command.error,
    )
