"""DDP, ZeRO and FSDP side by side: what one data rank keeps of the states, and what it sends.

States are weights, gradients and what AdamW keeps: a master copy where the recipe has one, and two
moments. Activations are the same with all of them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import gcd
from typing import Final, NamedTuple

from core.budget.catalogue.precisions import PRECISIONS, Precision
from core.budget.cluster import Cluster
from core.budget.item import Formula, Item, Number, as_guessed, counted, total
from core.budget.parallel.communication import link_seconds
from core.budget.parallel.ranks import group
from core.budget.parallel.traffic import GATHER, SCATTER, reduced_bytes, weight_transfers
from core.budget.recipe import TrainingRecipe
from core.budget.share import Share, shares
from core.budget.weights.parameters import share_counts
from core.language import N_
from core.models.spec import ModelSpec

_HELD: Final = {
    name: Formula(
        f"ceil(num_params * ({each}) / num_shards)"
        f" + ceil(num_expert_params * ({each}) / num_expert_shards)"
    )
    for name, each in (
        ("weights", "weight_bytes"),
        ("gradients", "gradient_bytes"),
        ("optimizer", "master_bytes + 2 * moment_bytes"),
    )
}
_REPLICAS: Final = Formula(
    "num_times * 2 * (num_replicas - 1)"
    " * ceil(num_gradients * gradient_bytes / (num_ranks * num_replicas))"
)
ZERO: Final = N_("Rajbhandari et al. 2020, ZeRO, figure 1: (2 + 2 + K) bytes for each parameter")
HYBRID: Final = N_("torch fully_shard on a 2D mesh: sharded in a node, replicated between nodes")

STRATEGIES: Final[Mapping[str, str]] = {
    "ddp": N_("DDP (NO_SHARD)"),
    "zero1": N_("ZeRO-1"),
    "zero2": N_("ZeRO-2 (SHARD_GRAD_OP)"),
    "zero3": N_("FSDP2, ZeRO-3 (FULL_SHARD)"),
    "hybrid": N_("HYBRID_SHARD"),
}
"""Key -> what torch and the ZeRO paper call it, as a message id."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sharding:
    """One way to spread the states.

    Attributes:
        sent: Bytes that it sends in a step to other data ranks.
    """

    key: str
    held: Item
    sent: Item
    seconds: Item


class _Sent(NamedTuple):
    item: Item
    bytes_per_second: float


def shardings(spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster) -> tuple[Sharding, ...]:
    """Return all five ways for the first pipeline stage; the cluster's own is one of them.

    Raises:
        ValueError: If the model cannot be split over the cluster.
    """
    share = shares(spec, cluster, recipe.accumulation)[0]
    return tuple(_sharding(key, spec, recipe, cluster, share) for key in STRATEGIES)


def _sharding(
    key: str, spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster, share: Share
) -> Sharding:
    if key == "hybrid":
        sent = tuple(_hybrid(spec, recipe, cluster, share))
    else:
        zero = list(STRATEGIES).index(key)
        sent = tuple(_zero(spec, recipe, replace(cluster, zero_stage=zero), share))
    return Sharding(
        key=key,
        held=as_guessed(_held(key, spec, recipe, cluster, share), spec),
        sent=as_guessed(_sum("communication", [each.item for each in sent], "bytes"), spec),
        seconds=as_guessed(
            _sum("exposed communication", [link_seconds(*each, cluster) for each in sent], "s"),
            spec,
        ),
    )


def _held(
    key: str, spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster, share: Share
) -> Item:
    found = share_counts(spec, share)
    experts = found.experts if share.expert > 1 else 0
    num_ranks = _per_node(cluster) if key == "hybrid" else cluster.weight_ranks
    sharded = {"ddp": (), "zero1": ("optimizer",), "zero2": ("optimizer", "gradients")}
    values = _sizes(found.total - experts, experts, PRECISIONS[recipe.precision])
    parts = []
    for name, formula in _HELD.items():
        shards = num_ranks if name in sharded.get(key, tuple(_HELD)) else 1
        split = {"num_shards": shards, "num_expert_shards": max(1, shards // share.expert)}
        parts.append(counted(name, formula, values | split, ZERO))
    return total("states", parts, source=ZERO)


def _sizes(num_params: int, num_expert_params: int, precision: Precision) -> dict[str, Number]:
    return {
        "num_params": num_params,
        "num_expert_params": num_expert_params,
        "weight_bytes": precision.weights,
        "gradient_bytes": precision.gradients + precision.accumulated,
        "master_bytes": precision.master,
        "moment_bytes": precision.state,
    }


def _per_node(cluster: Cluster) -> int:
    """Return the data ranks that share states in a node; every node needs equally many."""
    return gcd(cluster.weight_ranks, group(cluster, "data").per_node)


def _zero(
    spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster, share: Share
) -> Iterator[_Sent]:
    for transfer in weight_transfers(spec, recipe, cluster, share):
        yield _Sent(transfer.item, group(cluster, transfer.axis).ring)


def _hybrid(
    spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster, share: Share
) -> Iterator[_Sent]:
    """Gather and scatter inside the node, sum each shard over the nodes; experts like the rest."""
    precision, found = PRECISIONS[recipe.precision], share_counts(spec, share)
    inside = _per_node(cluster)
    values: dict[str, Number] = {
        "num_ranks": inside,
        "num_replicas": cluster.weight_ranks // inside,
        "num_weights": found.total,
        "num_gradients": found.total,
        "gradient_bytes": reduced_bytes(recipe, fully_sharded=True),
        "weight_bytes": precision.gathered,
        "num_times": recipe.accumulation,
    }
    link = cluster.device.link_among(inside)
    twice = values | {"num_times": 2 * recipe.accumulation}
    for name, formula, given, speed in (
        ("reduce-scatter of gradients", SCATTER, values, link),
        ("all-gather of weights", GATHER, twice, link),
        (N_("all-reduce between nodes"), _REPLICAS, values, min(link, cluster.network)),
    ):
        yield _Sent(counted(name, formula, given, HYBRID), speed)


def _sum(name: str, parts: list[Item], unit: str) -> Item:
    if not parts:
        return counted(name, Formula("0"), {}, ZERO, unit)
    return total(name, parts, source=parts[0].source)
