"""What a rank sends of activations in a step: between tensor ranks, stages and expert ranks.

Left out because they are small: the gradients of norms under sequence parallelism, the router's
losses, the norm of the gradient.
"""

from collections.abc import Iterator
from typing import Final

from core.budget.cluster import Cluster
from core.budget.formula import Formula, Number
from core.budget.item import Item, item
from core.budget.parallel.share import Share
from core.budget.parallel.weight_traffic import Transfer
from core.budget.recipe import TrainingRecipe
from core.budget.training.precisions import PRECISIONS
from core.language import N_
from core.models.spec import ModelSpec

MEGATRON: Final = N_("Shoeybi et al. 2019, Megatron-LM, figure 4: two all-reduces a layer and pass")
SEQUENCE: Final = N_("Korthikanti et al. 2022, section 4.2.2; one all-gather more going backward")
STAGES: Final = N_("Narayanan et al. 2021, section 2.2: what passes between two stages")
EXPERTS: Final = N_("Lepikhin et al. 2020, GShard: tokens go to evenly used experts and back")

_REDUCE: Final = Formula(
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
_EXCHANGE: Final = Formula(
    "num_microbatches * num_expert_layers * num_exchanges * (num_ranks - 1)"
    " * ceil(num_tokens * experts_per_token * hidden_dim * bytes_per_value / num_ranks)"
)


def activation_transfers(
    spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster, share: Share
) -> Iterator[Transfer]:
    """Yield what goes between tensor ranks, pipeline stages and expert ranks."""
    precision = PRECISIONS[recipe.precision]
    values: dict[str, Number] = {
        "num_microbatches": recipe.accumulation,
        "num_tokens": recipe.num_tokens,
        "hidden_dim": spec.hidden_dim,
        "bytes_per_value": precision.value,
    }
    again = 1 if recipe.checkpointing in {"full", "every_k"} else 0
    if share.tensor > 1:
        for line in _tensor(share, again, values | {"num_ranks": share.tensor}):
            yield Transfer(axis="tensor", item=line)
    stage = values | {"bytes_per_value": precision.residual}
    for line in _stages(share, cluster.pipeline, stage):
        yield Transfer(axis="pipeline", item=line)
    if spec.mixture is not None and share.expert > 1 and share.num_expert_layers:
        yield _expert(share, again, values, spec.mixture.experts_per_token)


def _tensor(share: Share, again: int, values: dict[str, Number]) -> Iterator[Item]:
    """Two all-reduces a layer in each pass, one for the embedding forward, for the head backward.

    With sequence parallelism each is an all-gather before and a reduce-scatter after the
    matrices; the backward pass gathers the matrices' inputs once more for their gradients.
    """
    ends = share.has_embedding + share.has_head
    if share.sequence_parallel:
        gathers = share.num_layers * (6 + 2 * again) + share.has_embedding + 2 * share.has_head
        scatters = share.num_layers * (4 + 2 * again) + ends
        gathered, scattered = values | {"num_times": gathers}, values | {"num_times": scatters}
        yield _line(N_("all-gather of activations"), _ONE_WAY, gathered, SEQUENCE)
        yield _line(N_("reduce-scatter of activations"), _ONE_WAY, scattered, SEQUENCE)
    else:
        reduced = values | {"num_all_reduces": share.num_layers * (4 + 2 * again) + ends}
        yield _line(N_("all-reduce of activations"), _REDUCE, reduced, MEGATRON)
    if share.has_head:
        yield _line(N_("all-reduce of the loss"), _LOSS, values, MEGATRON)


def _stages(share: Share, num_stages: int, values: dict[str, Number]) -> Iterator[Item]:
    parts = share.tensor if share.sequence_parallel else 1
    sent = values | {"num_token_parts": parts}
    if share.stage < num_stages - 1:
        yield _line(N_("activations to the next stage"), _STAGE, sent, STAGES)
    if share.stage > 0:
        yield _line(N_("gradients to the stage before"), _STAGE, sent, STAGES)


def _expert(
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
    line = item(
        N_("all-to-all of tokens"),
        _EXCHANGE,
        sent,
        unit="bytes",
        source=EXPERTS,
        kind="estimated",
        band=1 / (share.expert - 1),
    )
    return Transfer(axis="expert", item=line)


def _line(name: str, formula: Formula, values: dict[str, Number], source: str) -> Item:
    return item(name, formula, values, unit="bytes", source=source)
