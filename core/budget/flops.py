"""The FLOPs of one optimizer step: forward, backward, and what the backward pass does again.

Two conventions live side by side. The *model's* FLOPs are forward and backward: what MFU divides by
the peak. The *hardware's* FLOPs count repeated work too: activation checkpointing, and the scores
that a fused attention kernel forgets and makes again (HFU).
"""

from typing import Final

from core.budget.adapters import adapter_backward, adapter_forward, frozen_backward
from core.budget.formula import Formula, Number
from core.budget.forward_flops import flop_sizes, forward_flops, is_scores
from core.budget.item import Item, item, total
from core.budget.recipe import TrainingRecipe
from core.language import N_
from core.models.spec import ModelSpec

__all__ = ["forward_flops", "model_flops", "step_flops"]

BACKWARD: Final = Formula("2 * forward")
SCORES_AGAIN: Final = Formula("scores * key_dim // (key_dim + value_dim)")
BLOCKS_AGAIN: Final = Formula("forward - head - 2 * num_tokens * num_stops * hidden_dim * ffn_dim")
# Profiles that keep their scores, unless only the attention is checkpointed (Korthikanti 2022).
UNFUSED_ATTENTION: Final = frozenset({"megatron"})

_STEP: Final = N_("forward, backward and repeated work of all micro-batches of one replica")
_MODEL: Final = N_("Chowdhery et al. 2022, PaLM, appendix B: repeated work does not count")
_BACKWARD: Final = N_(
    "for each product two of the same size: one for its input, one for its weight"
)
_SCORES: Final = N_("Dao et al. 2022, FlashAttention: queries times keys again, 5 products for 4")
_BLOCKS: Final = N_(
    "Chen et al. 2016; torch ends a second run before its last product: nothing needs it"
)


def step_flops(spec: ModelSpec, recipe: TrainingRecipe, *, causal: bool = False) -> Item:
    """Return the FLOPs of one step of one replica: forward, backward and "done again".

    Divide by the tensor and pipeline ranks for one device of many; the total over all replicas is
    this times their number.

    Args:
        spec: The model.
        recipe: Batch, length, accumulation, checkpointing, adapters and profile.
        causal: Whether only pairs that the causal mask lets through count; see `forward_flops`.

    Raises:
        ValueError: If the adapters do not fit the model.
    """
    num_tokens = recipe.num_tokens * recipe.accumulation
    forward = forward_flops(spec, num_tokens, recipe.seq_len, causal=causal)
    again = _done_again(spec, recipe, forward)
    if recipe.lora is None:
        parts = [forward, _backward(forward)]
    else:
        adapters = adapter_forward(spec, recipe.lora, num_tokens)
        parts = [total("forward", [*forward.children, adapters], source=forward.source)]
        parts.append(
            total(
                N_("backward"),
                [
                    frozen_backward(spec, forward, num_tokens),
                    adapter_backward(spec, recipe.lora, num_tokens),
                ],
                source=_BACKWARD,
            )
        )
    if again:
        parts.append(total(N_("done again"), again, source=_STEP))
    return total(N_("step FLOPs"), parts, source=_STEP)


def model_flops(step: Item) -> Item:
    """Return forward and backward of what `step_flops` gave: the FLOPs that MFU counts."""
    return total(N_("model FLOPs"), [step.child("forward"), step.child("backward")], source=_MODEL)


def _backward(forward: Item) -> Item:
    values = {"forward": forward.amount}
    return item(N_("backward"), BACKWARD, values, unit="FLOPs", source=_BACKWARD)


def _done_again(spec: ModelSpec, recipe: TrainingRecipe, forward: Item) -> list[Item]:
    sizes = flop_sizes(spec)
    parts = []
    if recipe.profile not in UNFUSED_ATTENTION or recipe.checkpointing == "selective":
        scores = sum(part.amount for part in forward.children if is_scores(part))
        values = sizes | {"scores": scores}
        parts.append(item(N_("scores again"), SCORES_AGAIN, values, unit="FLOPs", source=_SCORES))
    if recipe.checkpointing in {"full", "every_k"}:
        values = sizes | {
            "forward": forward.amount,
            "head": forward.child("head").amount,
            "num_tokens": recipe.num_tokens * recipe.accumulation,
            "num_stops": num_stops(spec, recipe),
        }
        parts.append(item(N_("blocks again"), BLOCKS_AGAIN, values, unit="FLOPs", source=_BLOCKS))
    return parts


def num_stops(spec: ModelSpec, recipe: TrainingRecipe) -> Number:
    """Return how often a second run stops before its last product: once a segment that ends in one.

    A norm or a dropout after the product needs its result, and so do the weights of experts.
    """
    if spec.norms_per_layer != 2 or recipe.profile in UNFUSED_ATTENTION:
        return 0
    length = 1 if recipe.checkpointing == "full" else recipe.checkpoint_every
    ends = range(length - 1, spec.num_layers, length)
    is_cut = spec.num_layers % length != 0 and spec.num_layers <= spec.num_dense_layers
    return sum(end < spec.num_dense_layers for end in ends) + is_cut
