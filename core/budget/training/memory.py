"""The memory of training: what each device holds, when it peaks, and whether it fits.

After the forward pass every activation is there and the loss holds its log-probabilities; in the
backward pass activations leave while gradients arrive; the optimizer's step has all gradients and
its own copies. The largest of these moments is the peak; each is held against a simulated step
(tests/core/budget/training/test_memory.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.budget.budget import Budget
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.cluster import Cluster
from core.budget.item import Formula, Item, Number, as_guessed, item, total
from core.budget.recipe import TrainingRecipe
from core.budget.share import Share, shares
from core.budget.training.activations import (
    activation_sizes,
    layer_activations,
    outside_activations,
    recomputed_activations,
)
from core.budget.training.scenario import check_recipe
from core.budget.training.states import (
    gradients,
    optimizer,
    resident_gradients,
    state_sizes,
    weights,
)
from core.budget.training.transients import (
    cast_copies,
    flowing,
    gathered_weights,
    keeps_adding,
    last_gradient,
    logits_and_loss,
    step_temporary,
    table_gradient,
    transient_sizes,
)
from core.budget.weights.parameters import share_counts
from core.language import N_
from core.models.spec import ModelSpec

DATA: Final = Formula("2 * 8 * num_tokens")
RESERVE: Final = Formula("allocated * 5 // 100")
BUFFERS: Final = Formula("num_groups * 512 * 1024 ** 2")
OVERHEADS: Final = (N_("communication buffers"), N_("allocator reserve"))
LINE_NAMES: Final = (
    N_("weights"), N_("compute weights"), N_("master weights"), N_("frozen weights"),
    N_("frozen weights in 16 bits"), N_("quantized weights"), N_("codes"), N_("scales"),
    N_("adapters"), N_("optimizer"), N_("gradients"), N_("activations"), N_("outside the blocks"),
    N_("recomputed activations"), N_("logits and loss"), N_("temporary"), N_("cached copies"),
    N_("gathered weights"), N_("data"), N_("step peak"), N_("most loaded device"), N_("device"),
    *OVERHEADS,
)  # fmt: skip
"""Names of lines, beside the moments and the parts of a block."""
_BATCH: Final = N_("token ids and targets, 8 bytes each")
_DEVICE: Final = N_("one device of the stage")
_LOADED: Final = N_("the most loaded stage")
_RESERVE: Final = N_("reserved beyond allocated: 3 to 15 % in torchtitan's and litgpt's tables")
_BUFFERS: Final = N_("NCCL's buffers: 0.2 to 1 GiB for each group of ranks that talk")

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


def training_budget(spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster) -> Budget:
    """Return the bytes of training on the most loaded device, stage by stage.

    The peak beyond the states is an item "step peak", the maximum of the step's moments. The
    device's own context is not in it: `DeviceSpec.memory_usable` is what that leaves for tensors.

    Raises:
        ValueError: If the model, the recipe and the cluster cannot go together; a sentence.
    """
    check_recipe(spec, recipe)
    split = shares(spec, cluster, recipe.accumulation)
    stages = tuple(as_guessed(_stage(spec, recipe, cluster, share), spec) for share in split)
    whole = stages[0] if len(stages) == 1 else total(
        "most loaded device", stages, source=_LOADED, combine="max"
    )  # fmt: skip
    device = cluster.device
    return Budget(
        name=spec.name, item=whole, stages=stages,
        capacity=device.memory_usable, capacity_band=device.memory_band,
    )  # fmt: skip


def _stage(spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster, share: Share) -> Item:
    parts = rank_items(spec, recipe, share)
    extra = [allocator_reserve(sum(part.amount for part in parts))]
    num_groups = sum(n > 1 for n in (cluster.data, cluster.tensor, cluster.pipeline))
    if num_groups:
        buffers = item(
            "communication buffers", BUFFERS, {"num_groups": num_groups},
            unit="bytes", source=_BUFFERS, kind="estimated", band=(0.6, 1.0),
        )  # fmt: skip
        extra.insert(0, buffers)
    name = "device" if cluster.pipeline == 1 else f"stage {share.stage}"
    return total(name, (*parts, *extra), source=_DEVICE)


def allocator_reserve(num_bytes: Number) -> Item:
    """Return what the allocator reserves beyond the bytes in tensors."""
    return item(
        "allocator reserve", RESERVE, {"allocated": num_bytes},
        unit="bytes", source=_RESERVE, kind="estimated", band=(1.0, 2.0),
    )  # fmt: skip


def rank_items(spec: ModelSpec, recipe: TrainingRecipe, share: Share) -> tuple[Item, ...]:
    """Return what one rank holds: weights, optimizer states, the batch, the peak of a step.

    Raises:
        ValueError: If the heads cannot be split over the tensor ranks.
    """
    held = share_counts(spec, share)
    sizes: dict[str, Number] = activation_sizes(spec, recipe, share)
    sizes |= state_sizes(spec, recipe, share, held)
    sizes |= transient_sizes(spec, recipe, share, held)
    return (
        weights(recipe, share, held, sizes),
        optimizer(recipe, sizes),
        item("data", DATA, sizes, unit="bytes", kind="exact", source=_BATCH),
        step_peak(spec, recipe, share, sizes),
    )


def allocated(stage: Item) -> int:
    """Return the bytes of a stage that tensors take: all but what the allocator and NCCL add."""
    return sum(part.num_bytes for part in stage.children if part.name not in OVERHEADS)


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
    table, matrix = sizes["trained_table"], sizes["params_of_last_matrix"]
    newest = matrix if keeps_adding(recipe, share) else table + matrix
    values = {
        **sizes,
        "held_gradients": parts.held[0].amount if parts.held else 0,
        "first_params": 0 if recipe.lora else newest,
    }
    first = (
        item("gradients", FIRST_GRADIENTS, values, unit="bytes", kind="exact", source=_ARRIVED),
    )
    last = item("activations", LAST_LAYERS, {**sizes, "of_layers": parts.layers},
                unit="bytes", kind="exact", source=_LEFT)  # fmt: skip
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


def _moment(name: str, *parts: Item) -> Item:
    return total(name, parts, source=_NOW)


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
    # the gradients of q, k and v come after that of the scores
    read = sizes["hidden_dim"] * (sizes["query_dim"] + 2 * sizes["kv_dim"])
    late = 0 if parts.held else min(others, sizes["params_of_layer"] - matrix - read)
    first_flow, late_flow = (
        flowing(
            sizes,
            params_between=0 if recipe.lora else params,
            activations_between=parts.passed,
        )
        for params in (first, late)
    )
    return first_flow, late_flow


def _table_moments(
    recipe: TrainingRecipe, share: Share, parts: _Parts, sizes: Mapping[str, Number]
) -> tuple[Item, ...]:
    """Return the moment of the output table's gradient, where it is freed before the layers'."""
    if not (share.has_head and keeps_adding(recipe, share)):
        return ()
    flow = table_gradient(sizes)
    name = N_("gradient of the output table")
    return (_moment(name, parts.kept, *parts.held, flow, *parts.around),)


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
    return item("gradients", LATER_GRADIENTS, values, unit="bytes", kind="exact", source=_ARRIVED)
