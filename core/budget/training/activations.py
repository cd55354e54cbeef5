"""The bytes that a forward pass keeps for the backward pass, part by part of the block."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from core.budget.catalogue.precisions import PRECISIONS, Precision
from core.budget.catalogue.profiles import PROFILES
from core.budget.item import Formula, Item, Kind, Number, counted, item
from core.budget.recipe import TrainingRecipe
from core.budget.share import Share
from core.budget.training.checkpointing import kept_tensors, recomputed_tensors
from core.budget.training.saved_tensors import NORMED, Rows, norm_rows
from core.budget.weights.parameters import local_sizes
from core.language import N_
from core.models.spec import ModelSpec

TRACED: Final = N_("tensors kept by autograd, traced on the modules of core.models")
EMULATED: Final = N_("autocast emulated from torch's list of operations, not measured on a GPU")
UNEQUAL: Final = N_("virtual stages with unequal numbers of experts, all taken as the largest")
UNTRACED: Final = N_("fixed states and gates are not traced: estimated from their widths")
CHECKPOINT: Final = N_("Chen et al. 2016: keep a block's input, run the block again")
_LAYERS: Final[Mapping[str, str]] = {
    N_("norms"): "num_layers",
    N_("attention"): "num_attention_layers",
    N_("recurrent layers"): "num_recurrent_layers",
    N_("per-layer inputs"): "num_layers",
    N_("feed-forward"): "num_dense_layers",
    N_("experts"): "num_expert_layers",
    N_("block inputs"): "ceil(num_layers / segment_layers)",
}
_FORMULA_OF: Final = lru_cache(maxsize=512)(Formula)
SHARED_INPUT: Final = "shared_bytes * norm_tokens * hidden_dim"
"""What a rerun does not make again: its first norm keeps the run's own input."""
ROTARY: Final = Formula("2 * residual_bytes * seq_len * rotary_dim")


def activation_sizes(spec: ModelSpec, recipe: TrainingRecipe, share: Share) -> dict[str, Number]:
    """Return the sizes that one rank's activations depend on, by the names of the formulas.

    Raises:
        ValueError: If the heads cannot be split over the tensor ranks.
    """
    sizes = local_sizes(spec, share) | _layers_of_a_run(share)
    tokens, tensor = recipe.num_tokens, share.tensor
    sizes |= {
        "batch_size": recipe.batch_size,
        "seq_len": recipe.seq_len,
        "num_tokens": tokens,
        "norm_tokens": -(-tokens // tensor) if share.sequence_parallel else tokens,
        "query_dim": sizes["num_heads"] * spec.head_dim,
        "kv_dim": sizes["num_kv_heads"] * spec.head_dim,
        "rotary_dim": 0 if spec.learned_positions else spec.head_dim,
        "in_flight": share.in_flight,
        "alternating": int(spec.mixture is not None and spec.mixture.alternating),
        "segment_layers": (
            min(recipe.checkpoint_every, sizes["num_layers"])
            if recipe.checkpointing == "every_k"
            else 1
        ),
        "rank": recipe.lora.rank if recipe.lora else 0,
        **_number_sizes(PRECISIONS[recipe.precision], is_rotary=not spec.learned_positions),
        "shared_bytes": _shared_bytes(spec, recipe),
    }
    if spec.mixture is not None:
        # the rows that the experts read: each the same number, the last padded
        experts = spec.mixture.num_experts
        routed = sizes["num_tokens"] * spec.mixture.experts_per_token
        sizes["num_experts"] = experts
        sizes["num_rows"] = -(-routed // experts) * experts
    if spec.latent is not None:
        sizes["rope_in_view"] = spec.latent.rope_dim if sizes["value_bytes"] == 4 else 0
        sizes["rotary_dim"] = spec.latent.rope_dim
    return sizes


def _layers_of_a_run(share: Share) -> dict[str, Number]:
    """Return the layers that one pass goes through; of unequal virtual stages the largest share."""
    layers, virtual = share.num_layers, share.virtual_stages
    return {
        "num_layers": layers // virtual,
        "num_attention_layers": -(-share.num_attention_layers // virtual),
        "num_recurrent_layers": -(-share.num_recurrent_layers // virtual),
        "num_dense_layers": -(-share.num_dense_layers // virtual),
        "num_expert_layers": -(-share.num_expert_layers // virtual),
        "has_unequal_runs": share.num_expert_layers % virtual,
    }


def _shared_bytes(spec: ModelSpec, recipe: TrainingRecipe) -> int:
    """Return the bytes of a number of a run's input that its first norm keeps as it is.

    A norm written in steps keeps an fp32 copy, which of an fp32 tensor is the tensor itself.
    """
    residual = PRECISIONS[recipe.precision].residual
    in_steps = spec.norm == "rms" and PROFILES[recipe.profile].rms_norm == "steps"
    return 0 if in_steps and residual != 4 else residual


def _number_sizes(precision: Precision, *, is_rotary: bool) -> dict[str, Number]:
    """Return the bytes of one number; under autocast each matrix casts its input for itself."""
    casts = precision.copies > 0
    return {
        "value_bytes": precision.value,
        "residual_bytes": precision.residual,
        "rotated_bytes": precision.residual if is_rotary else precision.value,
        "qkv_copies": 3 if casts else 1,
        "pair_copies": 2 if casts else 1,
    }


def layer_activations(
    spec: ModelSpec, recipe: TrainingRecipe, sizes: Mapping[str, Number]
) -> tuple[Item, ...]:
    """Return what all layers of a rank keep, one item a part of the block."""
    emulated = PRECISIONS[recipe.precision].copies > 0
    kind: Kind = "estimated" if emulated or sizes["has_unequal_runs"] else "exact"
    source, band = (EMULATED, 0.05) if emulated else (TRACED, 0.0)
    if sizes["has_unequal_runs"]:
        source, band = UNEQUAL, 0.5
    if not spec.is_plain:
        kind, source, band = "estimated", UNTRACED, 0.5
    return tuple(
        item(part, rule, sizes, unit="bytes", source=source, kind=kind, band=band)
        for part, rule in _formulas(spec, _shape_of(recipe), kept=True).items()
    )


def outside_activations(
    spec: ModelSpec, recipe: TrainingRecipe, share: Share, sizes: Mapping[str, Number]
) -> Item:
    """Return what is kept outside the blocks: rotary angles, and the final norm's tensors."""
    rule = _outside(spec.norm, recipe.profile, is_frozen=recipe.lora is not None)
    if not share.has_head:
        rule = ROTARY
    return counted("outside the blocks", rule, sizes, TRACED)


def rotary_activations(sizes: Mapping[str, Number]) -> Item:
    """Return what is kept outside the blocks until the first layer's backward pass is done."""
    return counted("outside the blocks", ROTARY, sizes, TRACED)


@lru_cache(maxsize=16)
def _outside(norm: str, profile: str, *, is_frozen: bool) -> Formula:
    rows = norm_rows(norm, PROFILES[profile])
    kept = [row.size for row in rows if not (is_frozen and row.input_of)]
    if not is_frozen:
        kept.append(NORMED)
    return Formula(f"{ROTARY.text} + {' + '.join(kept)}")


def recomputed_activations(
    spec: ModelSpec, recipe: TrainingRecipe, sizes: Mapping[str, Number], *, is_first: bool = False
) -> tuple[Item, ...]:
    """Return what one layer, or one run of layers, makes again for its backward pass, by part.

    In a rank's first run (`is_first`) dense layers come before experts.
    """
    layers = sizes["segment_layers"]
    num_dense = dense_in_run(sizes, is_first=is_first)
    one = {**sizes, "in_flight": 1, "num_layers": layers}
    one["num_dense_layers"] = num_dense
    one["num_expert_layers"] = layers - num_dense
    for name in ("num_attention_layers", "num_recurrent_layers"):
        one[name] = min(layers, sizes[name])
    kind: Kind = "exact" if spec.is_plain else "estimated"
    band = 0.0 if spec.is_plain else 0.5
    return tuple(
        item(part, rule, one, unit="bytes", kind=kind, source=CHECKPOINT, band=band)
        for part, rule in _formulas(spec, _shape_of(recipe), kept=False).items()
    )


def dense_in_run(sizes: Mapping[str, Number], *, is_first: bool) -> Number:
    """Return how many layers without experts a rank's first run of layers has, or its last."""
    layers = sizes["segment_layers"]
    if sizes["alternating"]:
        return _alternating_dense(sizes, is_first=is_first)
    if is_first:
        return min(layers, sizes["num_dense_layers"])
    return max(0, layers - sizes["num_expert_layers"])


def _alternating_dense(sizes: Mapping[str, Number], *, is_first: bool) -> Number:
    """Return a run's layers without experts where they alternate with the others."""
    run, layers, experts = sizes["segment_layers"], sizes["num_layers"], sizes["num_expert_layers"]
    with_experts = run * experts // layers
    if not is_first:
        with_experts = experts - (layers - run) * experts // layers
    return run - with_experts


def _shape_of(recipe: TrainingRecipe) -> TrainingRecipe:
    """Return the recipe with only the choices that decide which tensors are kept."""
    return TrainingRecipe(
        checkpointing=recipe.checkpointing, profile=recipe.profile, lora=recipe.lora
    )


@lru_cache(maxsize=512)
def _formulas(spec: ModelSpec, recipe: TrainingRecipe, *, kept: bool) -> Mapping[str, Formula]:
    """Return one formula a part: the sum of its rows, times its layers, times those in flight."""
    parts = kept_tensors(spec, recipe) if kept else recomputed_tensors(spec, recipe)
    rules = {part: _rule(_LAYERS[part], rows) for part, rows in parts.items() if rows}
    if not kept and "norms" in rules:
        rules["norms"] += f" - {SHARED_INPUT}"
    return {part: Formula(rule) for part, rule in rules.items()}


def _rule(num_layers: str, rows: Rows) -> str:
    return f"in_flight * {num_layers} * ({' + '.join(row.size for row in rows)})"


class KeptTensor(NamedTuple):
    """One tensor of one layer."""

    what: str
    op: str
    formula: str
    num_bytes: int


def kept_list(
    spec: ModelSpec, recipe: TrainingRecipe, share: Share, part: str, *, again: bool = False
) -> tuple[KeptTensor, ...]:
    """Return the tensors that one layer of a rank keeps in a part of the block, or makes again.

    `part` is one of "norms", "attention", "feed-forward", "experts" and "block inputs"; with
    `again` they are those that checkpointing makes again instead.
    """
    rows = (recomputed_tensors if again else kept_tensors)(spec, recipe).get(part, ())
    sizes = activation_sizes(spec, recipe, share)
    return tuple(
        KeptTensor(row.what, row.op, row.size, int(_FORMULA_OF(row.size).of(sizes))) for row in rows
    )
