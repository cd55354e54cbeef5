"""Where every rank stands, and which link a group of ranks talks over.

Ranks are numbered as Megatron-LM does: tensor ranks are neighbours, then come the context ranks,
the data ranks (the expert ranks among both), then the pipeline stages. So tensor ranks stay inside
a node if they can.
"""

from dataclasses import dataclass
from typing import Final, Literal

from core.budget.cluster import Cluster
from core.language import N_, _

Axis = Literal["data", "tensor", "context", "pipeline", "expert", "expert data"]
INSIDE: Final = N_("link inside a node")
BETWEEN: Final = N_("network between nodes")


@dataclass(frozen=True, slots=True)
class Rank:
    """One device.

    Attributes:
        number: As torch.distributed counts, from 0.
        tensor: Its place among the ranks that share each matrix.
        context: Its place among the ranks that share each sequence.
    """

    number: int
    stage: int
    replica: int
    tensor: int
    node: int
    context: int = 0


def rank_at(cluster: Cluster, number: int) -> Rank:
    """Return where a rank stands; tensor ranks are neighbours, stages lie farthest apart.

    Source: Megatron-LM, core/parallel_state.py, order "tp-cp-ep-dp-pp".
    """
    rest, tensor = divmod(number, cluster.tensor)
    rest, context = divmod(rest, cluster.context)
    stage, replica = divmod(rest, cluster.data)
    return Rank(number, stage, replica, tensor, number // cluster.devices_per_node, context)


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Ranks that talk to each other.

    Attributes:
        stride: From one to the next, in ranks.
        inside: Whether each such group has a node of its own.
        per_node: How many of them share a node.
        ring: Bytes/s that each of them can send on a ring; every device has a network card of its
            own, so the members of one node cross to the next over as many cards as they are.
        all_to_all: Bytes/s of one of them when each sends to each.
        neighbour: Bytes/s from one to the next alone, where that is another node.
    """

    size: int
    stride: int
    inside: bool
    per_node: int
    ring: float
    all_to_all: float
    neighbour: float

    @property
    def link_name(self) -> str:
        """What the slowest part of the way is, as a message id."""
        return INSIDE if self.inside else BETWEEN


def group(cluster: Cluster, axis: Axis) -> Group:
    """Return the group that one rank belongs to along an axis."""
    tensor, expert = cluster.tensor, cluster.expert
    size, stride = {
        "tensor": (tensor, 1),
        "expert": (expert, tensor),
        "expert data": (cluster.weight_ranks // expert, tensor * expert),
        "context": (cluster.context, tensor),
        "data": (cluster.weight_ranks, tensor),
        "pipeline": (cluster.pipeline, tensor * cluster.weight_ranks),
    }[axis]
    nodes = cluster.devices_per_node
    inside = cluster.num_devices <= nodes or nodes % (size * stride) == 0
    device, network = cluster.device, cluster.network
    if inside:
        link = device.link_among(size)
        return Group(
            size=size, stride=stride, inside=True, per_node=size,
            ring=link, all_to_all=link, neighbour=device.link_among(2),
        )  # fmt: skip
    per_node = min(size, max(1, nodes // stride))
    link = device.link_among(per_node)
    outside = max(1, size - per_node)
    return Group(
        size=size,
        stride=stride,
        inside=False,
        per_node=per_node,
        ring=min(link, per_node * network),
        all_to_all=min(link, network * (size - 1) / outside),
        neighbour=min(link, network),
    )


def check_speed(bytes_per_second: float) -> float:
    """Return a link's speed.

    Raises:
        ValueError: If nothing can be sent over it.
    """
    if bytes_per_second <= 0:
        raise ValueError(
            _("The link between the devices carries 0 bytes a second; type its bandwidth.")
        )
    return bytes_per_second
