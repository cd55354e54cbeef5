"""LoRA's adapters: on which matrices of a model they can sit, and how wide they are there."""

from collections.abc import Mapping

from core.budget.recipe import LoRA
from core.models.spec import ModelSpec


def adapter_widths(spec: ModelSpec) -> Mapping[str, int]:
    """Return for each target the inputs plus outputs of its matrices over all layers.

    A rank-r adapter has r times as many parameters. Adapters of "gate", "up" and "down" sit on
    dense feed-forward layers, not on experts; latent attention has no "q", "k" and "v" of its own,
    only "o".
    """
    hidden, layers = spec.hidden_dim, spec.num_attention_layers
    queries, keys = spec.num_heads * spec.head_dim, spec.num_kv_heads * spec.head_dim
    is_plain = spec.latent is None
    thin = spec.num_dense_layers * (hidden + spec.ffn_dim)
    return {
        "q": layers * (hidden + queries * (1 + spec.attention_gate)) * is_plain,
        "k": layers * (hidden + keys) * is_plain,
        "v": layers * (hidden + keys) * is_plain,
        "o": layers * (value_width(spec) + hidden),
        "gate": thin if spec.gated else 0,
        "up": thin,
        "down": thin,
    }


def value_width(spec: ModelSpec) -> int:
    """Return the width of what all heads of a layer give out."""
    return spec.num_heads * (spec.head_dim if spec.latent is None else spec.latent.value_dim)


def adapted(spec: ModelSpec, lora: LoRA) -> dict[str, tuple[str, ...]]:
    """Return the targets that the model has, by part of the block.

    Of latent attention only "o" can be adapted; experts are left as they are.
    """
    of_attention = ("q", "k", "v", "o") if spec.latent is None else ("o",)
    of_dense = ("gate", "up", "down") if spec.gated else ("up", "down")
    parts = {"attention": of_attention, "feed-forward": of_dense if spec.num_dense_layers else ()}
    chosen = set(lora.targets)
    return {
        part: tuple(name for name in names if name in chosen)
        for part, names in parts.items()
        if names
    }
