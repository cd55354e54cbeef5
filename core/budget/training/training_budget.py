"""The memory of training: what each device holds, when it peaks, and whether it fits."""

from typing import Final

from core.budget.budget import Budget
from core.budget.catalogue.parameters import share_counts
from core.budget.check import check_choice, check_range
from core.budget.cluster import Cluster
from core.budget.formula import Formula, Number
from core.budget.item import Item, item, total
from core.budget.parallel.share import Share
from core.budget.parallel.shares import shares
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.activations import activation_sizes
from core.budget.training.checkpointing import adapted
from core.budget.training.moments import step_peak
from core.budget.training.optimizers import OPTIMIZERS
from core.budget.training.precisions import PRECISIONS
from core.budget.training.profiles import PROFILES
from core.budget.training.states import optimizer, state_sizes, weights
from core.budget.training.step_transients import transient_sizes
from core.dtypes.blocks.block_formats import BLOCK_FORMATS
from core.dtypes.formats import FORMATS
from core.language import N_, _
from core.models.spec import ModelSpec

DATA: Final = Formula("2 * 8 * num_tokens")
RESERVE: Final = Formula("allocated * 5 // 100")
BUFFERS: Final = Formula("num_groups * 512 * 1024 ** 2")
OVERHEADS: Final = (N_("communication buffers"), N_("allocator reserve"))
LINE_NAMES: Final = (
    N_("weights"),
    N_("compute weights"),
    N_("master weights"),
    N_("frozen weights"),
    N_("frozen weights in 16 bits"),
    N_("quantized weights"),
    N_("codes"),
    N_("scales"),
    N_("adapters"),
    N_("optimizer"),
    N_("gradients"),
    N_("activations"),
    N_("outside the blocks"),
    N_("recomputed activations"),
    N_("logits and loss"),
    N_("temporary"),
    N_("cached copies"),
    N_("gathered weights"),
    N_("data"),
    N_("step peak"),
    N_("most loaded device"),
    N_("device"),
    *OVERHEADS,
)
"""Names of lines, beside the moments and the parts of a block."""
_BATCH: Final = N_("token ids and targets, 8 bytes each")
_DEVICE: Final = N_("one device of the stage")
_LOADED: Final = N_("the most loaded stage")
_RESERVE: Final = N_("reserved beyond allocated: 3 to 15 % in torchtitan's and litgpt's tables")
_BUFFERS: Final = N_("NCCL's buffers: 0.2 to 1 GiB for each group of ranks that talk")


def training_budget(spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster) -> Budget:
    """Return the bytes of training on the most loaded device, stage by stage.

    The peak beyond the states is an item "step peak", the maximum of the step's moments. The
    device's own context is not in it: `DeviceSpec.memory_usable` is what a process can get.

    Raises:
        ValueError: If the model, the recipe and the cluster cannot go together; a sentence.
    """
    check_recipe(spec, recipe)
    split = shares(spec, cluster, recipe.accumulation)
    stages = tuple(_stage(spec, recipe, cluster, share) for share in split)
    whole = stages[0] if len(stages) == 1 else total(
        "most loaded device", stages, source=_LOADED, combine="max"
    )  # fmt: skip
    return Budget(name=spec.name, item=whole, stages=stages, capacity=cluster.device.memory_usable)


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
        item("data", DATA, sizes, unit="bytes", source=_BATCH),
        step_peak(spec, recipe, share, sizes),
    )


def _stage(spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster, share: Share) -> Item:
    parts = rank_items(spec, recipe, share)
    values: dict[str, Number] = {
        "allocated": sum(part.amount for part in parts),
        "num_groups": sum(n > 1 for n in (cluster.data, cluster.tensor, cluster.pipeline)),
    }
    reserve = item(
        "allocator reserve", RESERVE, values,
        unit="bytes", source=_RESERVE, kind="estimated", band=(1.0, 2.0),
    )  # fmt: skip
    buffers = item(
        "communication buffers", BUFFERS, values,
        unit="bytes", source=_BUFFERS, kind="estimated", band=(0.6, 1.0),
    )  # fmt: skip
    extra = (buffers, reserve) if values["num_groups"] else (reserve,)
    name = "device" if cluster.pipeline == 1 else f"stage {share.stage}"
    return total(name, (*parts, *extra), source=_DEVICE)


def allocated(stage: Item) -> int:
    """Return the bytes of a stage that tensors take: all but what the allocator and NCCL add."""
    return sum(part.num_bytes for part in stage.children if part.name not in OVERHEADS)


def check_recipe(spec: ModelSpec, recipe: TrainingRecipe) -> None:
    """Refuse a recipe that names what is not there, or a sequence that the model cannot read.

    Raises:
        ValueError: With the sentence.
    """
    check_choice("precision", recipe.precision, tuple(PRECISIONS))
    check_choice("optimizer", recipe.optimizer, tuple(OPTIMIZERS))
    check_choice("profile", recipe.profile, tuple(PROFILES))
    if recipe.lora is not None:
        formats = (*FORMATS, *BLOCK_FORMATS)
        check_choice("base_format", recipe.lora.base_format, formats)
        _check_targets(spec, recipe.lora)
    if spec.learned_positions:
        check_range("seq_len", recipe.seq_len, 1, spec.learned_positions)


def _check_targets(spec: ModelSpec, lora: LoRA) -> None:
    if not any(adapted(spec, lora).values()):
        raise ValueError(
            _(
                "{model} has no matrix that LoRA's targets {targets} name; experts and the inside "
                "of latent attention are left as they are. Take o, or the feed-forward layer's."
            ).format(model=spec.name, targets=", ".join(lora.targets))
        )
