"""The memory of training: what each device holds, when it peaks, and whether it fits.

After the forward pass every activation is there and the loss holds its log-probabilities; in the
backward pass activations leave while gradients arrive; the optimizer's step has all gradients and
its own copies. The largest of these moments is the peak; each is held against a simulated step
(tests/core/budget/training/test_memory.py).
"""

from collections.abc import Mapping
from typing import Final

from core.budget.budget import Budget
from core.budget.cluster import Cluster
from core.budget.item import Formula, Item, Number, as_guessed, counted, estimated, total
from core.budget.parallel.context import local_recipe, received_block
from core.budget.recipe import TrainingRecipe
from core.budget.share import Share, shares
from core.budget.training.activations import activation_sizes
from core.budget.training.scenario import check_recipe
from core.budget.training.states import optimizer, state_sizes, weights
from core.budget.training.step_peak import step_moments
from core.budget.training.temporary import temporary_sizes
from core.budget.weights.parameters import share_counts
from core.language import N_, _
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
    N_("gathered weights"), N_("received keys and values"), N_("data"), N_("step peak"),
    N_("most loaded device"), N_("device"),
    *OVERHEADS,
)  # fmt: skip
"""Names of lines, beside the moments and the parts of a block."""
_BATCH: Final = N_("token ids and targets, 8 bytes each")
_DEVICE: Final = N_("one device of the stage")
_LOADED: Final = N_("the most loaded stage")
_RESERVE: Final = N_(
    "reserved beyond allocated: 3 to 6 % in litgpt's table; 15 % taken as the most"
)
_BUFFERS: Final = N_("NCCL's buffers: 0.2 to 1 GiB for each group of ranks that talk")

NOT_COUNTED: Final[Mapping[str, str]] = {
    "compile": N_("torch.compile"),
    "float8": N_("products and gathered weights in FP8"),
    "every_second": N_("checkpointing that keeps every second product, as torchtitan's does"),
}
"""What a run can do that no field of a recipe says."""
_PEAK: Final = N_("the largest moment of one step; each was held against a simulated step")


def not_counted() -> str:
    """Return, translated, what a run can do that no budget of training counts."""
    return _(
        "Not counted, because they cannot be entered: {what}. A run that uses them can need much "
        "less than the lower end of the band."
    ).format(what=_(", ").join(_(words) for words in NOT_COUNTED.values()))


def training_budget(spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster) -> Budget:
    """Return the bytes of training on the most loaded device, stage by stage.

    The peak beyond the states is an item "step peak", the maximum of the step's moments. The
    device's own context is not in it: `DeviceSpec.memory_usable` is what that leaves for tensors.

    Raises:
        ValueError: If the model, the recipe and the cluster cannot go together; a sentence.
    """
    check_recipe(spec, recipe)
    split = shares(spec, cluster, recipe.accumulation)
    local = local_recipe(recipe, cluster)
    stages = tuple(as_guessed(_stage(spec, local, cluster, share), spec) for share in split)
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
    num_groups = sum(
        n > 1 for n in (cluster.data, cluster.tensor, cluster.pipeline, cluster.context)
    )
    if num_groups:
        buffers = estimated(
            "communication buffers", BUFFERS, {"num_groups": num_groups}, _BUFFERS, (0.6, 1.0)
        )
        extra.insert(0, buffers)
    if cluster.context > 1:
        extra.insert(0, received_block(spec, recipe, share))
    name = "device" if cluster.pipeline == 1 else f"stage {share.stage}"
    return total(name, (*parts, *extra), source=_DEVICE)


def allocator_reserve(num_bytes: Number) -> Item:
    """Return what the allocator reserves beyond the bytes in tensors."""
    return estimated("allocator reserve", RESERVE, {"allocated": num_bytes}, _RESERVE, (1.0, 2.0))


def rank_items(spec: ModelSpec, recipe: TrainingRecipe, share: Share) -> tuple[Item, ...]:
    """Return what one rank holds: weights, optimizer states, the batch, the peak of a step.

    Raises:
        ValueError: If the heads cannot be split over the tensor ranks.
    """
    held = share_counts(spec, share)
    sizes: dict[str, Number] = activation_sizes(spec, recipe, share)
    sizes |= state_sizes(spec, recipe, share, held)
    sizes |= temporary_sizes(spec, recipe, share, held)
    return (
        weights(recipe, share, held, sizes),
        optimizer(recipe, sizes),
        counted("data", DATA, sizes, _BATCH),
        step_peak(spec, recipe, share, sizes),
    )


def allocated(stage: Item) -> int:
    """Return the bytes of a stage that tensors take: all but what the allocator and NCCL add."""
    return sum(part.num_bytes for part in stage.children if part.name not in OVERHEADS)


def step_peak(
    spec: ModelSpec, recipe: TrainingRecipe, share: Share, sizes: Mapping[str, Number]
) -> Item:
    """Return the peak of one step beyond what stays in memory: the maximum of its moments."""
    moments = step_moments(spec, recipe, share, sizes)
    return total("step peak", moments, source=_PEAK, combine="max")
