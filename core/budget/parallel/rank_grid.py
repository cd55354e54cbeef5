"""Where every rank stands: its stage, its replica, its place among the tensor ranks, its node."""

from dataclasses import dataclass
from typing import Final

from core.budget.cluster import Cluster

MAX_COLUMNS: Final = 64
MAX_ROWS: Final = 32


@dataclass(frozen=True, slots=True)
class Rank:
    """One device.

    Attributes:
        number: As torch.distributed counts, from 0.
        stage: Its pipeline stage.
        replica: Its data rank.
        tensor: Its place among the ranks that share each matrix.
        node: The machine that it is in.
    """

    number: int
    stage: int
    replica: int
    tensor: int
    node: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RankGrid:
    """Ranks in rows of one pipeline stage each, replica by replica.

    Attributes:
        rows: The stages that are shown, each with the ranks that are shown.
        num_stages: Stages in all.
        num_columns: Ranks of one stage in all.
    """

    rows: tuple[tuple[Rank, ...], ...]
    num_stages: int
    num_columns: int

    @property
    def is_cut(self) -> bool:
        """Whether there are more ranks than are shown."""
        return len(self.rows) < self.num_stages or len(self.rows[0]) < self.num_columns


def rank_at(cluster: Cluster, number: int) -> Rank:
    """Return where a rank stands; tensor ranks are neighbours, stages lie farthest apart.

    Source: Megatron-LM, core/parallel_state.py, order "tp-cp-ep-dp-pp".
    """
    rest, tensor = divmod(number, cluster.tensor)
    stage, replica = divmod(rest, cluster.data)
    return Rank(number, stage, replica, tensor, number // cluster.devices_per_node)


def rank_grid(cluster: Cluster) -> RankGrid:
    """Return all ranks, or the first of the first stages if there are too many to see."""
    columns = cluster.tensor * cluster.data
    rows = tuple(
        tuple(
            rank_at(cluster, stage * columns + column)
            for column in range(min(columns, MAX_COLUMNS))
        )
        for stage in range(min(cluster.pipeline, MAX_ROWS))
    )
    return RankGrid(rows=rows, num_stages=cluster.pipeline, num_columns=columns)
