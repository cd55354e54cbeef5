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
BACKWARD: Final = Formula("2 * adapters - 2 * num_tokens * rank * num_first_inputs * hidden_dim")
FROZEN: Final = Formula("matrices - 2 * num_tokens * hidden_dim * first_width")
FROZEN_SCORES: Final = Formula("2 * scores")

SOURCE: Final = N_("Hu et al. 2021, LoRA: two thin products beside each adapted matrix")
FROZEN_SOURCE: Final = N_(
    "a frozen matrix passes the gradient on and gets none; the first layer's input needs none"
)


def adapter_widths(spec: ModelSpec) -> Mapping[str, int]:
    """Return for each target the inputs plus outputs of its matrices over all layers.

    A rank-r adapter has r times as many parameters. Adapters of "gate", "up" and "down" sit on the
    dense feed-forward layers.
    """
    queries, keys = spec.num_heads * spec.head_dim, spec.num_kv_heads * spec.head_dim
    hidden, ffn = spec.hidden_dim, spec.ffn_dim
    return {
        "q": spec.num_layers * (hidden + queries),
        "k": spec.num_layers * (hidden + keys),
        "v": spec.num_layers * (hidden + keys),
        "o": spec.num_layers * (queries + hidden),
        "gate": spec.num_dense_layers * (hidden + ffn) if spec.gated else 0,
        "up": spec.num_dense_layers * (hidden + ffn),
        "down": spec.num_dense_layers * (ffn + hidden),
    }


def adapter_forward(spec: ModelSpec, lora: LoRA, num_tokens: int) -> Item:
    """Return the FLOPs of the adapters in a forward pass."""
    return item(
        N_("adapters"), FORWARD, _values(spec, lora, num_tokens), unit="FLOPs", source=SOURCE
    )


def adapter_backward(spec: ModelSpec, lora: LoRA, num_tokens: int) -> Item:
    """Return their FLOPs in the backward pass; the first layer's input needs no gradient."""
    values = _values(spec, lora, num_tokens)
    values["adapters"] = FORWARD.of(values)
    return item(N_("adapters backward"), BACKWARD, values, unit="FLOPs", source=SOURCE)


def frozen_backward(spec: ModelSpec, forward: Item, num_tokens: int) -> Item:
    """Return the FLOPs of passing the gradient back through frozen matrices and attention."""
    scores = sum(part.amount for part in forward.children if is_scores(part))
    values: dict[str, Number] = {
        "matrices": forward.amount - scores,
        "scores": scores,
        "num_tokens": num_tokens,
        "hidden_dim": spec.hidden_dim,
        "first_width": _first_width(spec),
    }
    parts = [
        item(N_("frozen matrices"), FROZEN, values, unit="FLOPs", source=FROZEN_SOURCE),
        item(N_("attention scores"), FROZEN_SCORES, values, unit="FLOPs", source=FROZEN_SOURCE),
    ]
    return total(N_("frozen backward"), parts, source=FROZEN_SOURCE)


def _values(spec: ModelSpec, lora: LoRA, num_tokens: int) -> dict[str, Number]:
    widths = adapter_widths(spec)
    targets = set(lora.targets)
    return {
        "num_tokens": num_tokens,
        "rank": lora.rank,
        "total_width": sum(widths[target] for target in targets),
        "num_first_inputs": len(targets & {"q", "k", "v"}),
        "hidden_dim": spec.hidden_dim,
    }


def _first_width(spec: ModelSpec) -> int:
    """Return the outputs of the matrices that read the first layer's input."""
    if spec.latent is None:
        return (spec.num_heads + 2 * spec.num_kv_heads) * spec.head_dim
    latent = spec.latent
    queries = latent.query_rank or spec.num_heads * (latent.nope_dim + latent.rope_dim)
    return queries + latent.kv_rank + latent.rope_dim
