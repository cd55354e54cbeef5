"""What one forward pass reads of the weights: not the embedding tables, and not every expert."""

from dataclasses import replace
from typing import Final

from core.budget.catalogue.parameters import share_counts
from core.budget.formula import Formula
from core.budget.item import Item, item, total
from core.budget.quantized import quantized_weights
from core.budget.serving.kv_cache import stored_format
from core.budget.serving.serving_memory import serving_share, stored_weights
from core.budget.serving.serving_plan import ServingPlan
from core.language import N_
from core.models.spec import ModelSpec

# If each token picks at random, an expert is left out by all of them with (1 - k/E) ** tokens.
EXPERTS_READ: Final = Formula(
    "ceil(expert_bytes * (1 - (1 - experts_per_token / num_experts) ** num_tokens))"
)
_READ: Final = N_("every weight once for all tokens of the pass; of the tables only a few rows")
_EXPERTS: Final = N_("experts that at least one token picks, if all are picked equally often")


def weights_read(spec: ModelSpec, serving: ServingPlan, num_tokens: int) -> Item:
    """Return the bytes of weights that one device reads in a pass over `num_tokens` tokens.

    Raises:
        ValueError: If the format is unknown, or the heads cannot be split over the devices.
    """
    found = share_counts(spec, serving_share(spec, serving.tensor))
    # A tied head is the table itself, and multiplying with it reads all of it.
    table = found.token_embedding if spec.tied else 0
    always = replace(found, token_embedding=table, positions=0, experts=0)
    parts = [*stored_weights(always, serving.weight_format).children]
    if spec.mixture is not None and found.experts:
        fmt = stored_format("weight_format", serving.weight_format)
        values = {
            "expert_bytes": quantized_weights(found.experts, fmt).amount,
            "experts_per_token": spec.mixture.experts_per_token,
            "num_experts": spec.mixture.num_experts,
            "num_tokens": num_tokens,
        }
        parts.append(
            item(
                "experts",
                EXPERTS_READ,
                values,
                unit="bytes",
                source=_EXPERTS,
                kind="estimated",
                band=(0.2, 0.0),
            )
        )
    return total("weights read", parts, source=_READ)
