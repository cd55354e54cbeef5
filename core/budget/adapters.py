"""LoRA's adapters: how wide they are, and the FLOPs that they and the frozen matrices cost."""

from collections.abc import Mapping
from typing import Final

from core.budget.formula import Formula, Number
from core.budget.forward_flops import is_scores
from core.budget.item import Item, item, total
from core.budget.recipe import LoRA
from core.language import N_
from core.models.spec import ModelSpec

FORWARD: Final = Formula("2 * num_tokens * rank * total_width")
BACKWARD: Final = Formula("2 * adapters - 2 * num_tokens * rank * first_inputs")
FROZEN: Final = Formula("matrices - 2 * num_tokens * first_weights")
SCORES: Final = Formula("2 * scores")

SOURCE: Final = N_("Hu et al. 2021, LoRA: two thin products beside each adapted matrix")
FROZEN_SOURCE: Final = N_(
    "a frozen matrix passes the gradient on and gets none; the first layer's input needs none"
)


def adapter_widths(spec: ModelSpec) -> Mapping[str, int]:
    """Return for each target the inputs plus outputs of its matrices over all layers.

    A rank-r adapter has r times as many parameters. Adapters of "gate", "up" and "down" sit on
    dense feed-forward layers and on shared experts, not on routed ones; those of "q" and "o" on
    latent attention's wide matrices.
    """
    hidden, layers = spec.hidden_dim, spec.num_layers
    values = spec.num_heads * (spec.head_dim if spec.latent is None else spec.latent.value_dim)
    keys = 0 if spec.latent is not None else layers * (hidden + spec.num_kv_heads * spec.head_dim)
    thin = spec.num_dense_layers * (hidden + spec.ffn_dim)
    if spec.mixture is not None and spec.mixture.num_shared:
        shared = spec.mixture.num_shared * spec.mixture.expert_dim
        thin += spec.num_expert_layers * (hidden + shared)
    return {
        "q": layers * (_query_inputs(spec) + _query_outputs(spec)),
        "k": keys,
        "v": keys,
        "o": layers * (values + hidden),
        "gate": thin if spec.gated else 0,
        "up": thin,
        "down": thin,
    }


def _query_inputs(spec: ModelSpec) -> int:
    narrow = 0 if spec.latent is None else spec.latent.query_rank
    return narrow or spec.hidden_dim


def _query_outputs(spec: ModelSpec) -> int:
    if spec.latent is None:
        return spec.num_heads * spec.head_dim
    return spec.num_heads * (spec.latent.nope_dim + spec.latent.rope_dim)


def adapter_forward(spec: ModelSpec, lora: LoRA, num_tokens: int) -> Item:
    """Return the FLOPs of the adapters in a forward pass."""
    return item(
        N_("adapters"), FORWARD, _values(spec, lora, num_tokens), unit="FLOPs", source=SOURCE
    )


def adapted_backward(spec: ModelSpec, lora: LoRA, forward: Item, num_tokens: int) -> Item:
    """Return the FLOPs of the backward pass: through what is frozen, and into the adapters.

    Args:
        spec: The model.
        lora: The adapters.
        forward: `forward_flops` of the frozen model.
        num_tokens: Tokens of the step.
    """
    scores = sum(part.amount for part in forward.children if is_scores(part))
    values = _values(spec, lora, num_tokens) | {
        "matrices": forward.amount - scores,
        "scores": scores,
        "first_weights": _first_weights(spec),
    }
    values["adapters"] = FORWARD.of(values)
    parts = [
        item(N_("frozen matrices"), FROZEN, values, unit="FLOPs", source=FROZEN_SOURCE),
        item(N_("attention scores"), SCORES, values, unit="FLOPs", source=FROZEN_SOURCE),
        item(N_("adapters"), BACKWARD, values, unit="FLOPs", source=SOURCE),
    ]
    return total(N_("backward"), parts, source=FROZEN_SOURCE)


def _values(spec: ModelSpec, lora: LoRA, num_tokens: int) -> dict[str, Number]:
    widths = adapter_widths(spec)
    targets = set(lora.targets)
    keys = 0 if spec.latent is not None else len(targets & {"k", "v"}) * spec.hidden_dim
    return {
        "num_tokens": num_tokens,
        "rank": lora.rank,
        "total_width": sum(widths[target] for target in targets),
        "first_inputs": keys + _query_inputs(spec) * ("q" in targets),
    }


def _first_weights(spec: ModelSpec) -> int:
    """Return the weights of the first layer before its attention: no gradient passes them."""
    if spec.latent is None:
        columns = (spec.num_heads + 2 * spec.num_kv_heads) * spec.head_dim
        return spec.hidden_dim * columns
    latent = spec.latent
    queries = _query_inputs(spec) * _query_outputs(spec) + spec.hidden_dim * latent.query_rank
    spread = latent.kv_rank * spec.num_heads * (latent.nope_dim + latent.value_dim)
    return queries + spec.hidden_dim * (latent.kv_rank + latent.rope_dim) + spread
