"""The moments of a training step at which memory can peak; the largest of them is the peak.

After the forward pass every activation is there and the loss holds its log-probabilities; in the
backward pass activations leave while gradients arrive; the optimizer's step has all gradients and
its own copies. Each moment is held against a simulated step
(tests/core/budget/training/test_moments.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.budget.formula import Formula, Number
from core.budget.item import Item, item, total
from core.budget.parallel.share import Share
from core.budget.recipe import TrainingRecipe
from core.budget.training.activations import (
    layer_activations,
    outside_activations,
    recomputed_activations,
)
from core.budget.training.backward_transients import flowing, last_gradient, table_gradient
from core.budget.training.precisions import PRECISIONS
from core.budget.training.states import gradients, resident_gradients
from core.budget.training.step_transients import (
    cast_copies,
    gathered_weights,
    keeps_adding,
    logits_and_loss,
    step_temporary,
)
from core.language import N_
from core.models.spec import ModelSpec

FIRST_GRADIENTS: Final = Formula("held_gradients + new_gradient_bytes * first_params")
LATER_GRADIENTS: Final = Formula(
    "all_gradients - gradient_bytes * (late_params // gradient_shards)"
    " + new_gradient_bytes * unshared_params"
)
LAST_LAYERS: Final = Formula(
    "of_layers * ((in_flight - 1) * num_layers + segment_layers) // (in_flight * num_layers)"
)
_PEAK: Final = N_("the largest moment of one step; each was held against a simulated step")
_NOW: Final = N_("what is in memory at that moment")
_ARRIVED: Final = N_("gradients that are there when the backward pass is in that layer")
_LEFT: Final = N_("the backward pass has come to the first layers; what it passed is freed")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Parts:
    """What several moments share."""

    kept: Item
    layers: Number
    passed: Number
    again: tuple[Item, ...]
    around: tuple[Item, ...]
    held: tuple[Item, ...]
    all_gradients: Item


def step_peak(
    spec: ModelSpec, recipe: TrainingRecipe, share: Share, sizes: Mapping[str, Number]
) -> Item:
    """Return the peak of one step beyond what stays in memory: the maximum of its moments.

    Args:
        spec: The model.
        recipe: How it is trained.
        share: The rank's part.
        sizes: All sizes that the formulas name.
    """
    parts = _parts(spec, recipe, share, sizes)
    loss = (logits_and_loss(sizes),) if share.has_head else ()
    flow, late_flow = _flows(recipe, share, parts, sizes)
    first = _first_gradients(recipe, share, parts, sizes)
    last = item("activations", LAST_LAYERS, {**sizes, "of_layers": parts.layers},
                unit="bytes", source=_LEFT)  # fmt: skip
    later = _later_gradients(recipe, share, parts, sizes)
    full = parts.all_gradients
    moments = (
        _moment(N_("end of forward"), parts.kept, *loss, *parts.held, *parts.around),
        *_table_moments(recipe, share, parts, sizes),
        _moment(N_("start of backward"), parts.kept, *parts.again, *first, flow, *parts.around),
        _moment(N_("end of backward"), last, *parts.again, later, late_flow, *parts.around),
        _moment(N_("last gradient"), full, last_gradient(sizes)),
        _moment(N_("optimizer step"), full, step_temporary(recipe, sizes)),
    )
    return total("step peak", moments, source=_PEAK, combine="max")


def _moment(name: str, *parts: Item) -> Item:
    return total(name, parts, source=_NOW)


def _parts(
    spec: ModelSpec, recipe: TrainingRecipe, share: Share, sizes: Mapping[str, Number]
) -> _Parts:
    precision = PRECISIONS[recipe.precision]
    layers = layer_activations(spec, recipe, sizes)
    outside = outside_activations(spec, recipe, share, sizes)
    again = recomputed_activations(spec, recipe, sizes)
    around = (cast_copies(sizes),) if precision.copies else ()
    if share.weight_shards > 1 or recipe.precision == "fsdp2":
        around = (*around, gathered_weights(sizes))
    full = gradients(recipe, sizes)
    stays = resident_gradients(precision, sizes)
    several = recipe.accumulation > 1 or share.in_flight > 1
    return _Parts(
        kept=total("activations", (*layers, outside), source=layers[0].source),
        layers=sum(part.amount for part in layers),
        passed=_passed(layers, again, sizes),
        again=(total("recomputed activations", again, source=again[0].source),) if again else (),
        around=around,
        held=(full,) if several else (stays,) if stays else (),
        all_gradients=full,
    )


def _passed(layers: Sequence[Item], again: Sequence[Item], sizes: Mapping[str, Number]) -> Number:
    """Return what one layer keeps of the part behind its attention, in bytes."""
    in_one = {each.name: each.amount // sizes["segment_layers"] for each in again}
    for part, count in (("feed-forward", "num_dense_layers"), ("experts", "num_expert_layers")):
        for each in layers:
            if each.name == part and part not in in_one and sizes[count]:
                in_one[part] = each.amount // (sizes["in_flight"] * sizes[count])
    behind = in_one.get("experts", in_one.get("feed-forward", 0))
    return behind + in_one.get("norms", 0) // 2


def _flows(
    recipe: TrainingRecipe, share: Share, parts: _Parts, sizes: Mapping[str, Number]
) -> tuple[Item, Item]:
    """Return the gradients of activations on their way in the last layer and in the first."""
    matrix = sizes["params_of_last_matrix"]
    others = (sizes["num_matrices"] - 1) * matrix + sizes["query_dim"] * sizes["hidden_dim"]
    first = -matrix if keeps_adding(recipe, share) else others
    in_first = sizes["params_of_layer"] - matrix - _read(sizes)
    late = 0 if parts.held else min(others, in_first)
    first_flow, late_flow = (
        flowing(
            sizes,
            params_between=0 if recipe.lora else params,
            activations_between=parts.passed,
        )
        for params in (first, late)
    )
    return first_flow, late_flow


def _read(sizes: Mapping[str, Number]) -> Number:
    """Return the parameters of q, k and v, whose gradients come after that of the scores."""
    return sizes["hidden_dim"] * (sizes["query_dim"] + 2 * sizes["kv_dim"])


def _table_moments(
    recipe: TrainingRecipe, share: Share, parts: _Parts, sizes: Mapping[str, Number]
) -> tuple[Item, ...]:
    """Return the moment of the output table's gradient, where it is freed before the layers'."""
    if not (share.has_head and keeps_adding(recipe, share)):
        return ()
    flow = table_gradient(sizes)
    name = N_("gradient of the output table")
    return (_moment(name, parts.kept, *parts.held, flow, *parts.around),)


def _first_gradients(
    recipe: TrainingRecipe, share: Share, parts: _Parts, sizes: Mapping[str, Number]
) -> tuple[Item, ...]:
    """Return the gradients when the backward pass is in the last layer."""
    table, matrix = sizes["trained_table"], sizes["params_of_last_matrix"]
    newest = matrix if keeps_adding(recipe, share) else table + matrix
    values = {
        **sizes,
        "held_gradients": parts.held[0].amount if parts.held else 0,
        "first_params": 0 if recipe.lora else newest,
    }
    return (item("gradients", FIRST_GRADIENTS, values, unit="bytes", source=_ARRIVED),)


def _later_gradients(
    recipe: TrainingRecipe, share: Share, parts: _Parts, sizes: Mapping[str, Number]
) -> Item:
    """Return the gradients when the backward pass is in the first layer."""
    layer = sizes["params_of_layer"] * sizes["segment_layers"]
    is_shared_out = share.gradient_shards > 1
    late = layer - sizes["params_of_last_matrix"] + sizes["params_of_embedding"]
    values = {
        **sizes,
        "all_gradients": parts.all_gradients.amount,
        "gradient_shards": share.gradient_shards,
        "late_params": 0 if recipe.lora or parts.held else late,
        "unshared_params": layer if is_shared_out and not recipe.lora else 0,
    }
    return item("gradients", LATER_GRADIENTS, values, unit="bytes", source=_ARRIVED)
