"""What a rank sends of weights and gradients in a step: the traffic between data ranks.

A ring sends (n - 1)/n of an array for a reduce-scatter or an all-gather, twice that for an
all-reduce (nccl-tests, doc/PERFORMANCE.md). An array is cut into n equal chunks, the last padded.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from core.budget.catalogue.parameters import share_counts
from core.budget.cluster import Cluster
from core.budget.formula import Formula, Number
from core.budget.item import Item, item
from core.budget.parallel.links import Axis
from core.budget.parallel.share import Share
from core.budget.recipe import TrainingRecipe
from core.budget.training.adapters import adapter_widths
from core.budget.training.precisions import PRECISIONS
from core.language import N_
from core.models.spec import ModelSpec

RING: Final = N_("a ring sends (n - 1)/n of the array, an all-reduce twice that (nccl-tests)")
ZERO: Final = N_("Rajbhandari et al. 2020, ZeRO, section 7; rings as in nccl-tests")

_ALL_REDUCE: Final = Formula(
    "2 * (num_ranks - 1) * ceil(num_gradients * gradient_bytes / num_ranks)"
)
SCATTER: Final = Formula(
    "num_times * (num_ranks - 1) * ceil(num_gradients * gradient_bytes / num_ranks)"
)
GATHER: Final = Formula(
    "num_times * (num_ranks - 1) * ceil(num_weights * weight_bytes / num_ranks)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Transfer:
    """One kind of message.

    Attributes:
        axis: The ranks that it goes round.
        item: Bytes that one rank sends in a step.
    """

    axis: Axis
    item: Item


class _Held(NamedTuple):
    """Parameters that the same ranks hold, and those of them that are trained."""

    axis: Axis
    num_ranks: int
    num_weights: int
    num_gradients: int


def weight_transfers(
    spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster, share: Share
) -> Iterator[Transfer]:
    """Yield what goes between data ranks: gradients, and with ZeRO weights too.

    DDP reduces the gradients once a step. Sharded gradients (ZeRO-2, -3) cannot wait for the next
    micro-batch, so they are reduced after each; sharded weights (ZeRO-3, FSDP2) are gathered for
    each forward pass and again for each backward pass.
    """
    for held in _held(spec, recipe, cluster, share):
        if held.num_ranks > 1:
            for line in _lines(held, recipe, cluster.zero_stage):
                yield Transfer(axis=held.axis, item=line)


def _lines(held: _Held, recipe: TrainingRecipe, zero_stage: int) -> Iterator[Item]:
    precision = PRECISIONS[recipe.precision]
    values: dict[str, Number] = {
        "num_ranks": held.num_ranks,
        "num_weights": held.num_weights,
        "num_gradients": held.num_gradients,
        "gradient_bytes": max(precision.gradients, precision.accumulated),
        "weight_bytes": precision.gathered if zero_stage == 3 else precision.weights,
    }
    if zero_stage == 0:
        yield _line(N_("all-reduce of gradients"), _ALL_REDUCE, values, RING)
        return
    times = {1: (1, 1), 2: (recipe.accumulation, 1), 3: (recipe.accumulation, 2)}[zero_stage]
    scatters, gathers = times[0], times[1] * (recipe.accumulation if zero_stage == 3 else 1)
    if zero_stage < 3:
        values["num_weights"] = held.num_gradients  # only what was trained has changed
    scatter = values | {"num_times": scatters}
    yield _line(N_("reduce-scatter of gradients"), SCATTER, scatter, ZERO)
    yield _line(N_("all-gather of weights"), GATHER, values | {"num_times": gathers}, ZERO)


def _line(name: str, formula: Formula, values: dict[str, Number], source: str) -> Item:
    return item(name, formula, values, unit="bytes", source=source)


def _held(
    spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster, share: Share
) -> Iterator[_Held]:
    """Yield the rank's parameters, experts apart where expert ranks share them."""
    found = share_counts(spec, share)
    experts = found.experts if share.expert > 1 else 0
    rest = found.total - experts
    adapters = _adapters(spec, recipe, share)
    yield _Held("data", cluster.data, rest, rest if adapters is None else adapters)
    if experts:
        ranks = cluster.data // share.expert
        yield _Held("expert data", ranks, experts, experts if adapters is None else 0)


def _adapters(spec: ModelSpec, recipe: TrainingRecipe, share: Share) -> int | None:
    """Return the adapters' parameters on this rank; None if all weights are trained."""
    if recipe.lora is None:
        return None
    widths = adapter_widths(spec)
    width = sum(widths[target] for target in set(recipe.lora.targets))
    per_layer = -(-recipe.lora.rank * width // spec.num_layers)
    return -(-per_layer * share.num_layers // share.tensor)
