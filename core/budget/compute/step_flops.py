"""The FLOPs of one optimizer step: forward, backward, and the extra work of the implementation.

Two conventions live side by side. The *model's* FLOPs are forward and backward: what MFU divides by
the peak. The *hardware's* FLOPs have the extra work too: activation checkpointing, the scores that
a fused attention kernel forgets and makes again, the zeros that fill up a narrow value (HFU).
"""

from typing import Final

from core.budget.compute.forward_flops import flop_sizes, forward_flops, is_scores, training_forward
from core.budget.item import GUESSED_WORK, Formula, Item, Number, as_guessed, counted, item, total
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.weights.adapters import adapter_widths, value_width
from core.language import N_, _
from core.models.spec import ModelSpec

BACKWARD: Final = Formula("2 * forward")
SCORES_AGAIN: Final = Formula("trained_scores * key_dim // (key_dim + value_dim)")
PADDING: Final = Formula(
    "(num_runs * scores + 2 * trained_scores) * (key_dim - value_dim) // (key_dim + value_dim)"
)
HEAD_AGAIN: Final = Formula("head")
BLOCKS_AGAIN: Final = Formula("forward - head - 2 * num_tokens * hidden_dim * skipped_width")
# Profiles that keep their scores, unless only the attention is checkpointed (Korthikanti 2022).
UNFUSED_ATTENTION: Final = frozenset({"megatron"})

_STEP: Final = N_("forward, backward and extra work of all micro-batches of one replica")
_MODEL: Final = N_("Chowdhery et al. 2022, PaLM, appendix B: repeated work does not count")
_BACKWARD: Final = N_("for each matmul two of the same size: one for its input, one for its weight")
_SCORES: Final = N_("Dao et al. 2022, FlashAttention: queries times keys again, 5 matmuls for 4")
_PADDING: Final = N_(
    "flash attention wants values as wide as keys; latent attention's are narrower"
)
_CHUNKS: Final = N_("a loss in chunks keeps no logits: the backward pass computes them again")
_BLOCKS: Final = N_(
    "Chen et al. 2016; torch ends a second run before its last matmul: its result is not used"
)

ADAPTERS_FORWARD: Final = Formula("2 * num_tokens * rank * total_width")
ADAPTERS_BACKWARD: Final = Formula("2 * adapters - 2 * num_tokens * rank * first_inputs")
FROZEN_BACKWARD: Final = Formula("matrices - 2 * num_tokens * first_weights")
SCORES_BACKWARD: Final = Formula("2 * scores - untrained")

_ADAPTERS: Final = N_("Hu et al. 2021, LoRA: two thin matmuls beside each adapted matrix")
_FROZEN: Final = N_(
    "a frozen matrix passes the gradient on and gets none; the first layer's input needs none"
)


def step_flops(spec: ModelSpec, recipe: TrainingRecipe, *, causal: bool = False) -> Item:
    """Return the FLOPs of one step of one replica: "forward", "backward" and "extra work".

    Blocks for multi-token prediction (DeepSeek-V3) are in it, unless adapters are trained.

    Divide by the tensor and pipeline ranks for one device of many; the total over all replicas is
    this times their number. A first layer of experts without an adapter in its attention has a
    little less backward work than said here. `causal` counts only pairs that the causal mask lets
    through; see `forward_flops`.

    Raises:
        ValueError: If a length is beyond reason, or there is nothing to adapt.
    """
    num_tokens = recipe.num_tokens * recipe.accumulation
    if recipe.lora is None:
        forward = training_forward(spec, num_tokens, recipe.seq_len, causal=causal)
        values = {"forward": forward.amount}
        backward = item(
            N_("backward"), BACKWARD, values, unit="FLOPs", kind=forward.kind, source=_BACKWARD
        )
    else:
        frozen = forward_flops(spec, num_tokens, recipe.seq_len, causal=causal)
        lora = recipe.lora
        adapters = adapter_forward(spec, lora, num_tokens)
        forward = total(frozen.name, [*frozen.children, adapters], source=frozen.source)
        backward = adapted_backward(spec, lora, frozen, num_tokens, fused=_is_fused(recipe))
    extra = _extra_work(spec, recipe, forward)
    parts = [forward, backward, *([total(N_("extra work"), extra, source=_STEP)] if extra else [])]
    return as_guessed(total(N_("step FLOPs"), parts, source=_STEP), spec, GUESSED_WORK)


def model_flops(step: Item) -> Item:
    """Return forward and backward of what `step_flops` gave: the FLOPs that MFU counts."""
    parts = [step.child("forward"), step.child("backward")]
    return total(N_("model FLOPs"), parts, source=_MODEL)


def _extra_work(spec: ModelSpec, recipe: TrainingRecipe, forward: Item) -> list[Item]:
    is_repeated = recipe.checkpointing in {"full", "every_k"}
    sizes = flop_sizes(spec)
    scores = sum(part.amount for part in forward.walk() if is_scores(part))
    trained = scores if recipe.lora is None else trained_scores(spec, recipe.lora, scores)
    sizes |= {"scores": scores, "trained_scores": trained}
    parts = []
    if _is_fused(recipe) or recipe.checkpointing == "selective":
        parts.append(counted(N_("scores again"), SCORES_AGAIN, sizes, _SCORES, "FLOPs"))
    if spec.latent is not None and sizes["key_dim"] > sizes["value_dim"]:
        values = sizes | {"num_runs": 2 if is_repeated else 1}
        parts.append(counted(N_("padded values"), PADDING, values, _PADDING, "FLOPs"))
    head = sum(part.amount for part in forward.walk() if part.name == "head")
    if recipe.loss_chunks > 1:
        values = {"head": head}
        parts.append(counted(N_("logits again"), HEAD_AGAIN, values, _CHUNKS, "FLOPs"))
    if is_repeated:
        values = sizes | {
            "forward": forward.amount,
            "head": head,
            "num_tokens": recipe.num_tokens * recipe.accumulation,
            "skipped_width": skipped_width(spec, recipe),
        }
        again = item(
            N_("blocks again"), BLOCKS_AGAIN, values,
            unit="FLOPs", kind=forward.kind, source=_BLOCKS,
        )  # fmt: skip
        parts.append(again)
    return parts


def _is_fused(recipe: TrainingRecipe) -> bool:
    return recipe.profile not in UNFUSED_ATTENTION


def skipped_width(spec: ModelSpec, recipe: TrainingRecipe) -> int:
    """Return the inner widths of the last products that second runs skip, added up.

    A norm or a dropout behind the product needs its result, and so do the weights of experts; with
    an adapter beside it only the adapter's second matrix is skipped.
    """
    if spec.norms_per_layer != 2 or not _is_fused(recipe):
        return 0
    length = 1 if recipe.checkpointing == "full" else recipe.checkpoint_every
    ends = {*range(length - 1, spec.num_layers, length), spec.num_layers - 1}
    num_dense = sum(
        spec.expert_layers_before(end + 1) == spec.expert_layers_before(end) for end in ends
    )
    mixture = spec.mixture
    # A gate on the shared experts needs their result.
    shared = (
        0 if mixture is None or mixture.shared_gate else mixture.num_shared * mixture.expert_dim
    )
    if recipe.lora is not None and "down" in recipe.lora.targets:
        return num_dense * recipe.lora.rank + (len(ends) - num_dense) * shared
    return num_dense * spec.ffn_dim + (len(ends) - num_dense) * shared


def adapter_forward(spec: ModelSpec, lora: LoRA, num_tokens: int) -> Item:
    """Return the FLOPs of the adapters in a forward pass.

    Raises:
        ValueError: If the model has none of the matrices that are to be adapted.
    """
    values = _adapter_values(spec, lora, num_tokens)
    if not values["total_width"]:
        raise ValueError(
            _("{model} has no matrices {targets} to adapt; add o.").format(
                model=spec.name, targets=_(", ").join(lora.targets)
            )
        )
    return counted(N_("adapters"), ADAPTERS_FORWARD, values, _ADAPTERS, "FLOPs")


def adapted_backward(
    spec: ModelSpec, lora: LoRA, forward: Item, num_tokens: int, *, fused: bool
) -> Item:
    """Return the FLOPs of the backward pass: through what is frozen, and into the adapters.

    `forward` are the `forward_flops` of the frozen model; `fused` says that one kernel makes all
    gradients of attention, needed or not.
    """
    scores = sum(part.amount for part in forward.children if is_scores(part))
    values = _adapter_values(spec, lora, num_tokens) | {
        "matrices": forward.amount - scores,
        "scores": trained_scores(spec, lora, scores),
        "untrained": 0 if fused else _untrained(spec, lora, scores),
    }
    values["adapters"] = ADAPTERS_FORWARD.of(values)
    # Of a first layer that has no attention, and of all before the first adapter, less is done.
    parts = [
        item(
            N_("frozen matrices"),
            FROZEN_BACKWARD,
            values,
            unit="FLOPs",
            kind=forward.kind if spec.is_plain else "estimated",
            source=_FROZEN,
            band=0.0 if spec.is_plain else (0.2, 0.0),
        ),
        counted(N_("attention scores"), SCORES_BACKWARD, values, _FROZEN, "FLOPs"),
        counted(N_("adapters"), ADAPTERS_BACKWARD, values, _ADAPTERS, "FLOPs"),
    ]
    return total(N_("backward"), parts, source=_FROZEN)


def trained_scores(spec: ModelSpec, lora: LoRA, scores: Number) -> Number:
    """Return the part of the scores that a gradient passes: all layers, or all but the first."""
    if _trained_projections(spec, lora) or 0 in spec.without_attention:
        return scores
    return scores * (spec.num_attention_layers - 1) // spec.num_attention_layers


def _trained_projections(spec: ModelSpec, lora: LoRA) -> frozenset[str]:
    return frozenset(lora.targets) & {"q", "k", "v"} if spec.latent is None else frozenset()


def _untrained(spec: ModelSpec, lora: LoRA, scores: Number) -> Number:
    """Return the products of the first layer's attention whose gradient nobody needs."""
    trained = _trained_projections(spec, lora)
    if not trained or 0 in spec.without_attention:
        return 0
    skipped = 3 - len(trained) + (trained == {"v"})  # without q and k none for the weights either
    return skipped * scores // (2 * spec.num_attention_layers)


def _adapter_values(spec: ModelSpec, lora: LoRA, num_tokens: int) -> dict[str, Number]:
    widths = adapter_widths(spec)
    first_weights, first_inputs = _first_layer(spec, lora)
    return {
        "num_tokens": num_tokens,
        "rank": lora.rank,
        "total_width": sum(widths[target] for target in set(lora.targets)),
        "first_weights": first_weights,
        "first_inputs": first_inputs,
    }


def _first_layer(spec: ModelSpec, lora: LoRA) -> tuple[int, int]:
    """Return weights and adapter inputs of the first layer whose input needs no gradient."""
    targets = set(lora.targets)
    weights = _projection_weights(spec)
    if trained := _trained_projections(spec, lora):
        return weights, len(trained) * spec.hidden_dim
    hidden, ffn = spec.hidden_dim, spec.ffn_dim
    stages = (
        ({"o"}, value_width(spec), hidden),
        ({"gate", "up"}, hidden, ffn * (2 if spec.gated else 1)),
        ({"down"}, ffn, hidden),
    )
    for names, inputs, outputs in stages:
        weights += inputs * outputs
        if found := targets & names:
            return weights, len(found) * inputs
    return weights, 0


def _projection_weights(spec: ModelSpec) -> int:
    hidden, latent = spec.hidden_dim, spec.latent
    if latent is None:
        return hidden * (spec.num_heads + 2 * spec.num_kv_heads) * spec.head_dim
    width = spec.num_heads * (latent.nope_dim + latent.rope_dim)
    rank = latent.query_rank
    queries = hidden * rank + rank * width if rank else hidden * width
    spread = latent.kv_rank * spec.num_heads * (latent.nope_dim + latent.value_dim)
    return queries + hidden * (latent.kv_rank + latent.rope_dim) + spread
