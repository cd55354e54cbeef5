"""What is written of bytes that move: devices and what they hold, where a collective stands."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from core.budget.item import Item
from core.budget.parallel.collectives import Collective, Pattern
from core.budget.parallel.communication import AXIS_NAMES
from core.figures.budget.stacked_parts import by_meaning
from core.figures.picture import Look, Table
from core.language import N_, _

PATTERN_NAMES: Final[dict[Pattern, str]] = {
    "all-reduce": N_("all-reduce"),
    "reduce-scatter": N_("reduce-scatter"),
    "all-gather": N_("all-gather"),
    "all-to-all": N_("all-to-all"),
    "ring": N_("send to the next, receive from the one before"),
    "forward": N_("send to the next stage"),
    "backward": N_("send to the stage before"),
}
MEANINGS: Final = {
    "weights": N_("weights"),
    "gradients": N_("gradients"),
    "optimizer": N_("optimizer"),
    "activations": N_("activations"),
    "temporary": N_("temporary"),
    "other": N_("other"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Rank:
    """What one device holds.

    Attributes:
        number: Its place in the group.
        node: The machine that it is in.
        held: Meaning of a colour -> bytes.
    """

    number: int
    node: int
    held: dict[str, int]

    @property
    def num_bytes(self) -> int:
        """All of it."""
        return sum(self.held.values())


def ranks_of(
    collective: Collective, nodes: Sequence[int], stages: Sequence[Sequence[Item]]
) -> tuple[Rank, ...]:
    """Return the devices of a group; those of a pipeline hold different parts of the model.

    Args:
        collective: What goes between them.
        nodes: The machine that each is in.
        stages: The parts that a device of each pipeline stage holds at its peak.
    """
    is_pipeline = collective.axis == "pipeline"
    return tuple(
        Rank(
            number=number,
            node=node,
            held=by_meaning(stages[number if is_pipeline else collective.stage]),
        )
        for number, node in enumerate(nodes)
    )


def heights(rank: Rank, highest: float) -> list[tuple[str, float]]:
    """Return how high each part of a bar is, of a whole of 1."""
    return [(meaning, size / highest) for meaning, size in rank.held.items()]


def collective_name(collective: Collective) -> str:
    """Return what it is and who takes part: "all-gather of weights · data parallel"."""
    return f"{_(collective.item.name)} · {_(AXIS_NAMES[collective.axis])}"


def rank_said(rank: Rank, capacity: float, look: Look) -> str:
    """Return what a device holds, part by part."""
    parts = _(", ").join(
        _("{name} {size}").format(name=_(MEANINGS[meaning]), size=look.format_bytes(size))
        for meaning, size in rank.held.items()
    )
    return _("Device {number}, node {node}: {held} of {capacity}: {parts}.").format(
        number=rank.number,
        node=rank.node,
        held=look.format_bytes(rank.num_bytes),
        capacity=look.format_bytes(capacity),
        parts=parts,
    )


def phases(collective: Collective) -> list[str]:
    """Return what is done in each turn."""
    return [_(PATTERN_NAMES[turn.pattern]) for turn in collective.turns]


def sentences(collective: Collective, look: Look) -> Iterator[str]:
    """Yield how far it is, before the first turn and after each."""
    num_turns = len(collective.turns)
    values = {
        "count": num_turns,
        "message": look.format_bytes(collective.num_bytes),
        "whole": look.format_bytes(collective.sent(num_turns)),
        "who": _("Each device"),
    }
    if collective.axis == "pipeline":
        values["who"] = _("A device of stage {stage}").format(stage=collective.stage)
    yield _("Before the first of {count} steps. {who} sends {whole}, {message} at a time.").format(
        **values
    )
    for turn in range(1, num_turns + 1):
        sent = look.format_bytes(collective.sent(turn))
        yield _("After step {turn} of {count}. {who} has sent {sent} of {whole}.").format(
            turn=turn, sent=sent, **values
        )


def moving_sentence(collective: Collective, look: Look) -> str:
    """Return what a device sends in a training step, and in one call."""
    return _(
        "A device sends {whole} in a training step for its {name}: {times} × {sent}, in {turns} "
        "steps each"
    ).format(
        name=_(collective.item.name),
        sent=look.format_bytes(collective.sent(len(collective.turns))),
        turns=len(collective.turns),
        times=f"{collective.times:,}",
        whole=look.format_bytes(collective.item.amount),
    )


def moving_table(found: Sequence[Collective], look: Look) -> Table:
    """Return one row a collective."""
    return {
        _("collective"): [collective_name(each) for each in found],
        _("devices"): [each.num_ranks for each in found],
        _("one message"): [look.format_bytes(each.num_bytes) for each in found],
        _("times"): [f"{each.times:,}" for each in found],
        _("sent in a step"): [look.format_bytes(each.item.amount) for each in found],
    }
