"""LoRA's adapters: how wide they are, and the FLOPs that they and the frozen matrices cost."""

from collections.abc import Mapping
from typing import Final

from core.budget.compute.forward_flops import is_scores
from core.budget.formula import Formula, Number
from core.budget.item import Item, item, total
from core.budget.recipe import LoRA
from core.language import N_, _
from core.models.spec import ModelSpec

FORWARD: Final = Formula("2 * num_tokens * rank * total_width")
BACKWARD: Final = Formula("2 * adapters - 2 * num_tokens * rank * first_inputs")
FROZEN: Final = Formula("matrices - 2 * num_tokens * first_weights")
SCORES: Final = Formula("2 * scores - untrained")

SOURCE: Final = N_("Hu et al. 2021, LoRA: two thin products beside each adapted matrix")
FROZEN_SOURCE: Final = N_(
    "a frozen matrix passes the gradient on and gets none; the first layer's input needs none"
)


def adapter_widths(spec: ModelSpec) -> Mapping[str, int]:
    """Return for each target the inputs plus outputs of its matrices over all layers.

    A rank-r adapter has r times as many parameters. Adapters of "gate", "up" and "down" sit on
    dense feed-forward layers, not on experts; latent attention has no "q", "k" and "v" of its own,
    only "o".
    """
    hidden, layers = spec.hidden_dim, spec.num_layers
    queries, keys = spec.num_heads * spec.head_dim, spec.num_kv_heads * spec.head_dim
    is_plain = spec.latent is None
    thin = spec.num_dense_layers * (hidden + spec.ffn_dim)
    return {
        "q": layers * (hidden + queries) * is_plain,
        "k": layers * (hidden + keys) * is_plain,
        "v": layers * (hidden + keys) * is_plain,
        "o": layers * (_value_width(spec) + hidden),
        "gate": thin if spec.gated else 0,
        "up": thin,
        "down": thin,
    }


def _value_width(spec: ModelSpec) -> int:
    return spec.num_heads * (spec.head_dim if spec.latent is None else spec.latent.value_dim)


def adapter_forward(spec: ModelSpec, lora: LoRA, num_tokens: int) -> Item:
    """Return the FLOPs of the adapters in a forward pass.

    Raises:
        ValueError: If the model has none of the matrices that are to be adapted.
    """
    values = _values(spec, lora, num_tokens)
    if not values["total_width"]:
        raise ValueError(
            _("{model} has no matrices {targets} to adapt; add o.").format(
                model=spec.name, targets=", ".join(lora.targets)
            )
        )
    return item(
        N_("adapters"), FORWARD, _values(spec, lora, num_tokens), unit="FLOPs", source=SOURCE
    )


def adapted_backward(
    spec: ModelSpec, lora: LoRA, forward: Item, num_tokens: int, *, fused: bool
) -> Item:
    """Return the FLOPs of the backward pass: through what is frozen, and into the adapters.

    Args:
        spec: The model.
        lora: The adapters.
        forward: `forward_flops` of the frozen model.
        num_tokens: Tokens of the step.
        fused: Whether one kernel makes all gradients of attention, needed or not.
    """
    scores = sum(part.amount for part in forward.children if is_scores(part))
    values = _values(spec, lora, num_tokens) | {
        "matrices": forward.amount - scores,
        "scores": trained_scores(spec, lora, scores),
        "untrained": 0 if fused else _untrained(spec, lora, scores),
    }
    values["adapters"] = FORWARD.of(values)
    parts = [
        item(N_("frozen matrices"), FROZEN, values, unit="FLOPs", source=FROZEN_SOURCE),
        item(N_("attention scores"), SCORES, values, unit="FLOPs", source=FROZEN_SOURCE),
        item(N_("adapters"), BACKWARD, values, unit="FLOPs", source=SOURCE),
    ]
    return total(N_("backward"), parts, source=FROZEN_SOURCE)


def trained_scores(spec: ModelSpec, lora: LoRA, scores: Number) -> Number:
    """Return the part of the scores that a gradient passes: all layers, or all but the first."""
    if _trained_projections(spec, lora):
        return scores
    return scores * (spec.num_layers - 1) // spec.num_layers


def _trained_projections(spec: ModelSpec, lora: LoRA) -> frozenset[str]:
    return frozenset(lora.targets) & {"q", "k", "v"} if spec.latent is None else frozenset()


def _untrained(spec: ModelSpec, lora: LoRA, scores: Number) -> Number:
    """Return the products of the first layer's attention whose gradient nobody needs."""
    trained = _trained_projections(spec, lora)
    if not trained:
        return 0
    skipped = 3 - len(trained) + (trained == {"v"})  # without q and k none for the weights either
    return skipped * scores // (2 * spec.num_layers)


def _values(spec: ModelSpec, lora: LoRA, num_tokens: int) -> dict[str, Number]:
    widths = adapter_widths(spec)
    first_weights, first_inputs = _first(spec, lora)
    return {
        "num_tokens": num_tokens,
        "rank": lora.rank,
        "total_width": sum(widths[target] for target in set(lora.targets)),
        "first_weights": first_weights,
        "first_inputs": first_inputs,
    }


def _first(spec: ModelSpec, lora: LoRA) -> tuple[int, int]:
    """Return weights and adapter inputs of the first layer whose input needs no gradient."""
    targets = set(lora.targets)
    weights = _projection_weights(spec)
    if trained := _trained_projections(spec, lora):
        return weights, len(trained) * spec.hidden_dim
    hidden, ffn = spec.hidden_dim, spec.ffn_dim
    stages = (
        ({"o"}, _value_width(spec), hidden),
        ({"gate", "up"}, hidden, ffn * (2 if spec.gated else 1)),
        ({"down"}, ffn, hidden),
    )
    for names, inputs, outputs in stages:
        weights += inputs * outputs
        if found := targets & names:
            return weights, len(found) * inputs
    return weights, 0


def _projection_weights(spec: ModelSpec) -> int:
    """Return the weights between a layer's input and its queries, keys and values."""
    hidden, latent = spec.hidden_dim, spec.latent
    if latent is None:
        return hidden * (spec.num_heads + 2 * spec.num_kv_heads) * spec.head_dim
    width = spec.num_heads * (latent.nope_dim + latent.rope_dim)
    rank = latent.query_rank
    queries = hidden * rank + rank * width if rank else hidden * width
    spread = latent.kv_rank * spec.num_heads * (latent.nope_dim + latent.value_dim)
    return queries + hidden * (latent.kv_rank + latent.rope_dim) + spread
