"""The messages of a collective, turn by turn: which chunk each rank sends, and to whom.

What one rank sends in all turns, as often as the collective is called in a training step, are the
bytes that the budget has for it. Rings as NCCL's (Patarasuk and Yuan 2009); an all-to-all in which
every rank sends to the one `turn` places ahead, so that no two send to the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from core.budget.check import check_range
from core.budget.cluster import Cluster
from core.budget.item import Formula, Item
from core.budget.parallel.communication import distinct_stages, stage_transfers
from core.budget.parallel.ranks import Axis, rank_at
from core.budget.parallel.ranks import group as group_of
from core.budget.parallel.traffic import Transfer
from core.budget.recipe import TrainingRecipe
from core.budget.share import Share
from core.budget.table import read_table
from core.models.spec import ModelSpec

Pattern = Literal[
    "all-reduce", "reduce-scatter", "all-gather", "all-to-all", "ring", "forward", "backward"
]
Carried = Literal["weights", "gradients", "activations", "kv_cache"]
Held = tuple[tuple[int, ...], ...]  # rank -> chunk -> how many ranks' parts are in it
MAX_RANKS: Final = 64


class Move(NamedTuple):
    """One message: who sends, who receives, and which chunk."""

    source: int
    target: int
    chunk: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """What is sent at the same time: every rank's message follows from its number.

    Attributes:
        pattern: What is done in this turn; of an all-reduce the half that it belongs to.
        adds: Whether the receiver adds what comes to its own.
    """

    pattern: Pattern
    shift: int
    offset: int = 0
    adds: bool = False
    only: int | None = None

    def moves(self, num_ranks: int, num_chunks: int) -> tuple[Move, ...]:
        """Return the messages of this turn."""
        sources = range(num_ranks) if self.only is None else (self.only,)
        return tuple(
            Move(source, (source + self.shift) % num_ranks, (source + self.offset) % num_chunks)
            for source in sources
        )


def turns(pattern: Pattern, num_ranks: int, num_runs: int = 1) -> tuple[Turn, ...]:
    """Return the turns of one collective.

    Of a pipeline `num_runs` is how often a micro-batch comes by each stage.

    Raises:
        ValueError: If there are too few or too many ranks.
    """
    check_range("num_ranks", num_ranks, 2, MAX_RANKS)
    if pattern == "all-reduce":
        return (*turns("reduce-scatter", num_ranks), *turns("all-gather", num_ranks))
    if pattern in ("forward", "backward"):
        return tuple(_hops(pattern, num_ranks, num_runs))
    return tuple(_turn(pattern, number) for number in range(num_ranks - 1))


def _turn(pattern: Pattern, number: int) -> Turn:
    if pattern == "reduce-scatter":  # ends with the chunk of its own number
        return Turn(pattern=pattern, shift=1, offset=-1 - number, adds=True)
    if pattern == "all-to-all":
        return Turn(pattern=pattern, shift=number + 1)
    return Turn(pattern=pattern, shift=1, offset=-number)


def _hops(pattern: Pattern, num_stages: int, num_runs: int) -> Iterator[Turn]:
    """Yield the way of one micro-batch through all stages, as often as it comes by."""
    for hop in range(num_runs * num_stages - 1):
        place = hop % num_stages
        if pattern == "forward":
            yield Turn(pattern=pattern, shift=1, only=place)
        else:
            yield Turn(pattern=pattern, shift=-1, only=num_stages - 1 - place)


def chunks(pattern: Pattern, num_ranks: int) -> int:
    """Return into how many chunks the array is cut; a micro-batch goes on as a whole."""
    return 1 if pattern in ("forward", "backward") else num_ranks


def held_at_first(pattern: Pattern, num_ranks: int) -> Held:
    """Return what ranks hold before the first turn: 1 where a rank has a chunk of its own."""
    ranks, num_chunks = range(num_ranks), chunks(pattern, num_ranks)
    if num_chunks == 1:
        first = 0 if pattern == "forward" else num_ranks - 1
        return tuple((int(rank == first),) for rank in ranks)
    has_all = pattern in ("all-reduce", "reduce-scatter")
    return tuple(
        tuple(int(has_all or chunk == rank) for chunk in range(num_chunks)) for rank in ranks
    )


def parts_of_whole(pattern: Pattern, num_ranks: int) -> int:
    """Return of how many ranks the parts are in a finished chunk."""
    return num_ranks if pattern in ("all-reduce", "reduce-scatter") else 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Collective:
    """One collective of a training step.

    Attributes:
        item: Bytes that one rank sends for it in a training step, as the budget has them.
        num_bytes: Of one message.
        times: How often it is called in a training step.
        stage: Pipeline stage that the numbers are of: one that sends most.
        num_runs: Of a pipeline: how often a micro-batch comes by each stage.
    """

    axis: Axis
    item: Item
    pattern: Pattern
    carried: Carried
    num_ranks: int
    num_bytes: int
    times: int
    stage: int
    num_runs: int = 1

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns of one call."""
        return turns(self.pattern, self.num_ranks, self.num_runs)

    @property
    def rank(self) -> int:
        """A rank of the group that sends as much as the item says."""
        return self.stage if self.axis == "pipeline" else 0

    def num_messages(self, num_turns: int) -> int:
        """Return how many messages this rank has sent after so many turns of one call."""
        done = self.turns[:num_turns]
        return sum(turn.only is None or turn.only == self.rank for turn in done)

    def sent(self, num_turns: int) -> int:
        """Return their bytes."""
        return self.num_bytes * self.num_messages(num_turns)


class _Shape(NamedTuple):
    """How the bytes of a line come about: messages of a size, in a pattern, some times over."""

    pattern: Pattern
    carried: Carried
    block: Formula
    times: Formula


_SHAPES: Final = {
    name: _Shape(row["pattern"], row["carried"], Formula(row["block"]), Formula(row["times"]))
    for name, row in read_table(__file__).items()
}
NAMES: Final = tuple(_SHAPES)


def collective_of(transfer: Transfer, cluster: Cluster, share: Share) -> Collective:
    """Return how a line of the budget is sent."""
    shape, values = _SHAPES[transfer.item.name], transfer.item.values
    return Collective(
        axis=transfer.axis,
        item=transfer.item,
        pattern=shape.pattern,
        carried=shape.carried,
        num_ranks=group_of(cluster, transfer.axis).size,
        num_bytes=int(shape.block.of(values)),
        times=int(shape.times.of(values)),
        stage=share.stage,
        num_runs=cluster.virtual_stages if transfer.axis == "pipeline" else 1,
    )


def collectives(
    spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster
) -> tuple[Collective, ...]:
    """Return the collectives of a training step, each as the stage has it that sends most for it.

    Raises:
        ValueError: If the model cannot be split over the cluster; the sentence says why.
    """
    found: dict[tuple[Axis, str], Collective] = {}
    for share in distinct_stages(spec, recipe, cluster):
        for transfer in stage_transfers(spec, recipe, cluster, share):
            made = collective_of(transfer, cluster, share)
            known = found.setdefault((made.axis, made.item.name), made)
            if made.item.amount > known.item.amount:
                found[made.axis, made.item.name] = made
    return tuple(sorted(found.values(), key=lambda each: -each.item.amount))


def nodes(collective: Collective, cluster: Cluster) -> tuple[int, ...]:
    """Return the machine that each rank of the first such group is in."""
    stride = group_of(cluster, collective.axis).stride
    first = 0
    if collective.axis != "pipeline":
        first = collective.stage * cluster.num_devices // cluster.pipeline
    return tuple(
        rank_at(cluster, first + place * stride).node for place in range(collective.num_ranks)
    )
