"""What a rank sends in a step: weights and gradients, and activations, each between its own ranks.

A ring sends (n - 1)/n of an array for a reduce-scatter or an all-gather, twice that for an
all-reduce (nccl-tests, doc/PERFORMANCE.md). An array is cut into n equal chunks, the last padded.
Left out because they are small: the gradients of norms under sequence parallelism, the router's
losses, the norm of the gradient.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from core.budget.catalogue.precisions import PRECISIONS
from core.budget.cluster import Cluster
from core.budget.item import Formula, Item, Number, counted, estimated
from core.budget.parallel.context import local_recipe, ring_traffic
from core.budget.parallel.ranks import Axis
from core.budget.recipe import TrainingRecipe
from core.budget.share import Share
from core.budget.weights.adapters import adapter_widths
from core.budget.weights.parameters import share_counts
from core.language import N_
from core.models.spec import ModelSpec

RING: Final = N_("a ring sends (n - 1)/n of the array, an all-reduce twice that (nccl-tests)")
ZERO: Final = N_("Rajbhandari et al. 2020, ZeRO, section 7; rings as in nccl-tests")

POLICY: Final = N_(
    "torch.distributed.fsdp.MixedPrecisionPolicy: reduce_dtype None reduces in param_dtype"
)

ALL_REDUCE: Final = Formula(
    "2 * (num_ranks - 1) * ceil(num_gradients * gradient_bytes / num_ranks)"
)
SCATTER: Final = Formula(
    "num_times * (num_ranks - 1) * ceil(num_gradients * gradient_bytes / num_ranks)"
)
GATHER: Final = Formula(
    "num_times * (num_ranks - 1) * ceil(num_weights * weight_bytes / num_ranks)"
)

MEGATRON: Final = N_("Shoeybi et al. 2019, Megatron-LM, figure 4: two all-reduces a layer and pass")
SEQUENCE: Final = N_("Korthikanti et al. 2022, section 4.2.2; one all-gather more going backward")
STAGES: Final = N_("Narayanan et al. 2021, section 2.2: what passes between two stages")
INTERLEAVED: Final = N_(
    "Narayanan et al. 2021, section 2.2.2: each virtual stage sends what a stage does"
)
EXPERTS: Final = N_("Lepikhin et al. 2020, GShard: tokens go to evenly used experts and back")

_SUM: Final = Formula(
    "num_microbatches * num_all_reduces * 2 * (num_ranks - 1)"
    " * ceil(num_tokens * hidden_dim * bytes_per_value / num_ranks)"
)
_ONE_WAY: Final = Formula(
    "num_microbatches * num_times * (num_ranks - 1)"
    " * ceil(num_tokens * hidden_dim * bytes_per_value / num_ranks)"
)
_LOSS: Final = Formula(
    "num_microbatches * 3 * 2 * (num_ranks - 1) * ceil(num_tokens * 4 / num_ranks)"
)
_STAGE: Final = Formula(
    "num_microbatches * ceil(num_tokens * hidden_dim * bytes_per_value / num_token_parts)"
)
_RUNS: Final = Formula(
    "num_runs * num_microbatches"
    " * ceil(num_tokens * hidden_dim * bytes_per_value / num_token_parts)"
)
_EXCHANGE: Final = Formula(
    "num_microbatches * num_expert_layers * num_exchanges * (num_ranks - 1)"
    " * ceil(num_tokens * experts_per_token * hidden_dim * bytes_per_value / num_ranks)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Transfer:
    """One kind of message."""

    axis: Axis
    item: Item  # bytes that one rank sends in a step


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
            for line in _between_data_ranks(held, recipe, cluster.zero_stage):
                yield Transfer(axis=held.axis, item=line)


def _between_data_ranks(held: _Held, recipe: TrainingRecipe, zero_stage: int) -> Iterator[Item]:
    precision = PRECISIONS[recipe.precision]
    values: dict[str, Number] = {
        "num_ranks": held.num_ranks,
        "num_weights": held.num_weights,
        "num_gradients": held.num_gradients,
        "gradient_bytes": reduced_bytes(recipe, fully_sharded=zero_stage == 3),
        "weight_bytes": precision.gathered if zero_stage == 3 else precision.weights,
    }
    if zero_stage == 0:
        yield counted(N_("all-reduce of gradients"), ALL_REDUCE, values, RING)
        return
    times = {1: (1, 1), 2: (recipe.accumulation, 1), 3: (recipe.accumulation, 2)}[zero_stage]
    scatters, gathers = times[0], times[1] * (recipe.accumulation if zero_stage == 3 else 1)
    if zero_stage < 3:
        values["num_weights"] = held.num_gradients  # only what was trained has changed
    scatter = values | {"num_times": scatters}
    source = POLICY if zero_stage == 3 and precision.casts_shards else ZERO
    yield counted(N_("reduce-scatter of gradients"), SCATTER, scatter, source)
    yield counted(N_("all-gather of weights"), GATHER, values | {"num_times": gathers}, ZERO)


def reduced_bytes(recipe: TrainingRecipe, *, fully_sharded: bool) -> int:
    """Return the bytes of a gradient while data ranks add it up.

    DDP and ZeRO add up what is kept. fully_shard (FSDP2) with a MixedPrecisionPolicy reduces in its
    reduce_dtype; without one in its param_dtype, and widens the sum afterwards. `fully_sharded`
    says that fully_shard does it: the weights are sharded, or in each node.
    """
    precision = PRECISIONS[recipe.precision]
    if not (fully_sharded and precision.casts_shards):
        return max(precision.gradients, precision.accumulated)
    return 4 if recipe.reduce_dtype == "float32" else precision.value


def _held(
    spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster, share: Share
) -> Iterator[_Held]:
    """Yield the rank's parameters, experts apart where expert ranks share them."""
    found = share_counts(spec, share)
    experts = found.experts if share.expert > 1 else 0
    rest = found.total - experts
    adapters = _adapters(spec, recipe, share)
    yield _Held("data", cluster.weight_ranks, rest, rest if adapters is None else adapters)
    if experts:
        ranks = cluster.weight_ranks // share.expert
        yield _Held("expert data", ranks, experts, experts if adapters is None else 0)


def _adapters(spec: ModelSpec, recipe: TrainingRecipe, share: Share) -> int | None:
    """Return the adapters' parameters on this rank; None if all weights are trained."""
    if recipe.lora is None:
        return None
    widths = adapter_widths(spec)
    width = sum(widths[target] for target in set(recipe.lora.targets))
    per_layer = -(-recipe.lora.rank * width // spec.num_layers)
    return -(-per_layer * share.num_layers // share.tensor)


def activation_transfers(
    spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster, share: Share
) -> Iterator[Transfer]:
    """Yield what goes between tensor and context ranks, pipeline stages and expert ranks.

    Raises:
        ValueError: If the context ranks cannot share a sequence.
    """
    recipe = local_recipe(recipe, cluster)
    precision = PRECISIONS[recipe.precision]
    values: dict[str, Number] = {
        "num_microbatches": recipe.accumulation,
        "num_tokens": recipe.num_tokens,
        "hidden_dim": spec.hidden_dim,
        "bytes_per_value": precision.value,
    }
    again = 1 if recipe.checkpointing in {"full", "every_k"} else 0
    if share.tensor > 1:
        for line in _between_tensor_ranks(share, again, values | {"num_ranks": share.tensor}):
            yield Transfer(axis="tensor", item=line)
    stage = values | {"bytes_per_value": precision.residual}
    if cluster.context > 1:
        yield Transfer(axis="context", item=ring_traffic(spec, recipe, cluster, share))
    for line in _between_stages(share, cluster.pipeline, stage):
        yield Transfer(axis="pipeline", item=line)
    if spec.mixture is not None and share.expert > 1 and share.num_expert_layers:
        yield _between_expert_ranks(share, again, values, spec.mixture.experts_per_token)


def _between_tensor_ranks(share: Share, again: int, values: dict[str, Number]) -> Iterator[Item]:
    """Two all-reduces a layer in each pass, one for the embedding forward, for the head backward.

    With sequence parallelism each is an all-gather before and a reduce-scatter after the
    matrices; the backward pass gathers the matrices' inputs once more for their gradients.
    """
    ends = share.has_embedding + share.has_head
    if share.sequence_parallel:
        gathers = share.num_layers * (6 + 2 * again) + share.has_embedding + 2 * share.has_head
        scatters = share.num_layers * (4 + 2 * again) + ends
        gathered, scattered = values | {"num_times": gathers}, values | {"num_times": scatters}
        yield counted(N_("all-gather of activations"), _ONE_WAY, gathered, SEQUENCE)
        yield counted(N_("reduce-scatter of activations"), _ONE_WAY, scattered, SEQUENCE)
    else:
        reduced = values | {"num_all_reduces": share.num_layers * (4 + 2 * again) + ends}
        yield counted(N_("all-reduce of activations"), _SUM, reduced, MEGATRON)
    if share.has_head:
        yield counted(N_("all-reduce of the loss"), _LOSS, values, MEGATRON)


def _between_stages(share: Share, num_stages: int, values: dict[str, Number]) -> Iterator[Item]:
    parts = share.tensor if share.sequence_parallel else 1
    sent = values | {"num_token_parts": parts}
    for name, is_end in (
        (N_("activations to the next stage"), share.stage == num_stages - 1),
        (N_("gradients to the stage before"), share.stage == 0),
    ):
        # what the last stage makes of a run goes to the first stage's next run; the last run ends
        runs = share.virtual_stages - is_end
        if runs == 1 and share.virtual_stages == 1:
            yield counted(name, _STAGE, sent, STAGES)
        elif runs:
            yield counted(name, _RUNS, sent | {"num_runs": runs}, INTERLEAVED)


def _between_expert_ranks(
    share: Share, again: int, values: dict[str, Number], experts_per_token: int
) -> Transfer:
    """Tokens go to their experts and back, in the forward and in the backward pass.

    One in `expert` stays at home if the router is even; at most none does.
    """
    sent = values | {
        "num_ranks": share.expert,
        "num_expert_layers": share.num_expert_layers,
        "num_exchanges": 4 + 2 * again,
        "experts_per_token": experts_per_token,
    }
    line = estimated(N_("all-to-all of tokens"), _EXCHANGE, sent, EXPERTS, 1 / (share.expert - 1))
    return Transfer(axis="expert", item=line)
