"""The bytes that stay from one training step to the next: weights, gradients, optimizer states."""

from collections.abc import Mapping
from typing import Final

from core.budget.catalogue.optimizers import OPTIMIZERS
from core.budget.catalogue.precisions import PRECISIONS, Precision
from core.budget.item import Formula, Item, Number, as_guessed, counted, item, total
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.share import Share, whole
from core.budget.weights.adapters import adapter_widths
from core.budget.weights.parameters import ParameterCounts, rows_and_columns, share_counts
from core.budget.weights.stored import quantized_weights
from core.dtypes.blocks.block_formats import BLOCK_FORMATS
from core.dtypes.number_formats.table import FORMATS
from core.language import N_
from core.models.spec import ModelSpec

WEIGHTS: Final = Formula(
    "weight_bytes * (ceil(num_others / weight_shards) + ceil(num_in_experts / expert_shards))"
)
DENSE_WEIGHTS: Final = Formula("weight_bytes * ceil(num_params / weight_shards)")
FROZEN: Final = Formula("2 * ceil((num_params - num_quantized) / weight_shards)")
ADAPTERS: Final = Formula("weight_bytes * num_trained")
MASTER: Final = Formula("master_bytes * num_updated")
GRADIENTS: Final = Formula("gradient_bytes * num_with_gradient")
_SHARED_OUT: Final = N_("Rajbhandari et al. 2020, ZeRO: each rank stores its share")
_LORA: Final = N_("Hu et al. 2021, LoRA; Dettmers et al. 2023, QLoRA")

PARTS: Final = {
    N_("weights"): Formula("weight_bytes"),
    N_("master weights"): Formula("master_bytes"),
    N_("gradients"): Formula("gradient_bytes"),
    N_("gradient sums"): Formula("sum_bytes"),
}
MOMENTS: Final = Formula("num_states * state_bytes")
LARGEST: Final = Formula("num_bytes // bytes_per_parameter")
_STORED: Final = N_("what a recipe stores from step to step, and its gradients")
_STATES_ONLY: Final = N_("all memory for weights, gradients and optimizer; nothing for activations")
PROBED: Final = 1024**2  # parameters of the square matrix on which an optimizer is weighed


def state_sizes(
    spec: ModelSpec, recipe: TrainingRecipe, share: Share, held: ParameterCounts
) -> dict[str, Number]:
    """Return the counts that a rank's states depend on, by the names of the formulas.

    `held` are the rank's parameters before any sharding over data ranks.
    """
    precision = PRECISIONS[recipe.precision]
    experts = held.experts
    others = held.total - experts
    trained = _adapter_params(spec, recipe.lora, share) if recipe.lora else 0
    updated = _sharded(trained, others, experts, share.optimizer_shards, share)
    return {
        "num_params": held.total,
        "num_others": others,
        "num_in_experts": experts,
        "weight_shards": share.weight_shards,
        "expert_shards": max(1, share.weight_shards // share.expert),
        "weight_bytes": precision.weights,
        "master_bytes": precision.master,
        "state_bytes": precision.state,
        "gradient_bytes": precision.gradients + precision.accumulated,
        "num_trained": trained or held.total,
        "num_updated": updated,
        "num_in_matrices": min(updated, trained or _of_muon(held, share)),
        "rows_and_columns": _rows_and_columns(spec, recipe, share, held),
        "num_with_gradient": _sharded(trained, others, experts, share.gradient_shards, share),
    }


def _sharded(trained: int, others: int, experts: int, num_shards: int, share: Share) -> int:
    if trained:
        return -(-trained // num_shards)
    expert_shards = max(1, num_shards // share.expert)
    return -(-others // num_shards) - (-experts // expert_shards)


def _of_muon(held: ParameterCounts, share: Share) -> int:
    """Return the parameters of the layers' two-dimensional matrices; experts lie in three."""
    count = held.matrices - held.experts + held.router
    return -(-count // share.optimizer_shards)


def _rows_and_columns(
    spec: ModelSpec, recipe: TrainingRecipe, share: Share, held: ParameterCounts
) -> int:
    """Return the numbers that Adafactor keeps: a row and a column a matrix, else each number."""
    if recipe.optimizer != "adafactor":
        return 0
    if recipe.lora is not None:
        return _adapter_params(spec, recipe.lora, share) // recipe.lora.rank
    return -(-rows_and_columns(spec, share, held) // share.optimizer_shards)


def _adapter_params(spec: ModelSpec, lora: LoRA, share: Share) -> int:
    widths = adapter_widths(spec)
    width = sum(widths[target] for target in set(lora.targets))
    return lora.rank * (width * share.num_layers // spec.num_layers)


def weights(
    recipe: TrainingRecipe, share: Share, held: ParameterCounts, sizes: Mapping[str, Number]
) -> Item:
    """Return the bytes of the weights: as they compute, the fp32 master copy, the adapters."""
    if recipe.lora is not None:
        parts = _frozen_weights(recipe.lora, share, held, sizes)
    else:
        rule = WEIGHTS if held.experts else DENSE_WEIGHTS
        parts = [counted("compute weights", rule, sizes, _SHARED_OUT)]
    if sizes["master_bytes"]:
        source = PRECISIONS[recipe.precision].source
        parts.append(counted("master weights", MASTER, sizes, source))
    return total("weights", parts, source=_SHARED_OUT)


def _frozen_weights(
    lora: LoRA, share: Share, held: ParameterCounts, sizes: Mapping[str, Number]
) -> list[Item]:
    adapters = counted("adapters", ADAPTERS, sizes, _LORA)
    block = BLOCK_FORMATS.get(lora.base_format)
    if block is None and FORMATS[lora.base_format].bits >= 16:
        stored = {**sizes, "weight_bytes": FORMATS[lora.base_format].bits // 8}
        rule = WEIGHTS if held.experts else DENSE_WEIGHTS
        return [counted("frozen weights", rule, stored, _LORA), adapters]
    num_quantized = held.attention + held.dense_ffn - held.biases  # experts stay as they are
    codes = quantized_weights(
        -(-num_quantized // share.weight_shards), block or FORMATS[lora.base_format]
    )
    rest = {**sizes, "num_quantized": num_quantized}
    plain = counted("frozen weights in 16 bits", FROZEN, rest, _LORA)
    return [total("quantized weights", codes.children, source=_LORA), plain, adapters]


def optimizer(recipe: TrainingRecipe, sizes: Mapping[str, Number]) -> Item:
    """Return the bytes of the optimizer's state; its step counts, 4 bytes a tensor, left out."""
    row = OPTIMIZERS[recipe.optimizer]
    return counted("optimizer", row.state, sizes, row.source)


def gradients(recipe: TrainingRecipe, sizes: Mapping[str, Number]) -> Item:
    """Return the bytes of all gradients of a rank, as they are at the end of a backward pass."""
    source = PRECISIONS[recipe.precision].source
    return counted("gradients", GRADIENTS, sizes, source)


def resident_gradients(precision: Precision, sizes: Mapping[str, Number]) -> Item | None:
    """Return the gradient sums that stay from step to step; None where there are none."""
    if not precision.resident:
        return None
    values = {**sizes, "gradient_bytes": precision.resident}
    return counted("gradients", GRADIENTS, values, precision.source)


def trained_parameters(spec: ModelSpec, recipe: TrainingRecipe) -> int:
    """Return the parameters that get gradients: all of them, or those of the adapters.

    >>> from core.budget.catalogue.models import MODELS
    >>> from core.budget.recipe import LoRA
    >>> trained_parameters(MODELS["llama-2-7b"], TrainingRecipe(lora=LoRA(rank=8)))
    4194304
    """
    share = whole(spec)
    sizes = state_sizes(spec, recipe, share, share_counts(spec, share))
    return int(sizes["num_trained"])


def bytes_per_parameter(precision: str, optimizer: str = "adamw") -> Item:
    """Return the bytes that one parameter takes in all, part by part.

    The optimizer is weighed on a matrix of 1024 x 1024.
    """
    row, rule = PRECISIONS[precision], OPTIMIZERS[optimizer]
    values: dict[str, Number] = {
        "weight_bytes": row.weights,
        "master_bytes": row.master,
        "gradient_bytes": row.gradients,
        "sum_bytes": row.accumulated,
        "state_bytes": row.state,
    }
    parts = [
        counted(name, formula, values, row.source)
        for name, formula in PARTS.items()
        if formula.of(values)
    ]
    sizes = {"num_updated": PROBED, "num_in_matrices": PROBED, "rows_and_columns": 2 * 1024}
    values["num_states"] = rule.state.of({**sizes, "state_bytes": 1}) / PROBED
    if optimizer == "adam8bit":
        values["state_bytes"] = 1
    parts.append(counted(N_("optimizer"), MOMENTS, values, rule.source))
    return total("bytes per parameter", parts, source=row.source)


def states_in_all(spec: ModelSpec, recipe: TrainingRecipe) -> Item:
    """Return the bytes of a model before its first activation: all that its recipe stores.

    Muon and Adafactor treat tables and vectors otherwise than matrices, so this may be more than
    the parameters times `bytes_per_parameter`.
    """
    share = whole(spec)
    held = share_counts(spec, share)
    sizes = state_sizes(spec, recipe, share, held)
    parts = [weights(recipe, share, held, sizes), gradients(recipe, sizes)]
    return as_guessed(total("states", [*parts, optimizer(recipe, sizes)], source=_STORED), spec)


def largest_by_states(num_bytes: float, each: Item) -> Item:
    """Return how many parameters the bytes hold; 640 GB hold 40 billion at 16 bytes.

    `num_bytes` are those of all devices together, `each` those of one parameter.
    """
    values = {"num_bytes": round(num_bytes), "bytes_per_parameter": each.amount}
    return item(
        "largest model", LARGEST, values, unit="parameters", kind="bound", source=_STATES_ONLY
    )
