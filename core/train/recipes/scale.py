"""The recipes of a comparison at 7B and 70B: computed by core.budget, trained nowhere here."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from core.budget.budget import Budget
from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster, peak_of
from core.budget.compute.forward_flops import is_scores
from core.budget.compute.step_flops import step_flops
from core.budget.item import Formula, Item, Number, item, total, weakest
from core.budget.parallel.communication import exposed_seconds
from core.budget.recipe import TrainingRecipe
from core.budget.training.duration import training_time
from core.budget.training.memory import training_budget
from core.language import N_, _
from core.models.spec import ModelSpec
from core.train.recipes.choices import AXES, Comparison

# Model and how many H100 share it, everything sharded (FSDP2's fully_shard).
SIZES: Final = {"7B": ("llama-2-7b", 8), "70B": ("llama-2-70b", 64)}
MFU: Final = 0.4  # of the peak of each format, while products run
BATCH: Final = 4  # sequences a device and step
SEQ_LEN: Final = 4096
DEVICE: Final = DEVICES["h100-sxm"]
FP8: Final = N_("fp8 products (computed only)")

IN_FP8: Final = Formula("(step_flops - kept_flops) / (fp8_flops_per_second * mfu)")
IN_16_BITS: Final = Formula("kept_flops / (flops_per_second * mfu)")
_SOURCE: Final = N_(
    "torchao, Quantized training: the products of linear layers in fp8; attention, the head and "
    "the inputs that are saved for the backward pass stay in bf16. Casts are not counted."
)
_STEP: Final = N_("products and what is waited for, in one step")


@dataclass(frozen=True, kw_only=True, slots=True)
class Scaled:
    """A recipe at a large size.

    Attributes:
        is_counted: False where no field of a budget says what differs: bytes and seconds are those
            of the first recipe.
    """

    label: str
    memory: Budget
    seconds: Item
    is_counted: bool = True


def at_scale(comparison: Comparison, size: str) -> tuple[Scaled, ...]:
    """Return each recipe at "7B" or "70B" on H100s, the same sequences a step for all.

    Beside formats stands FP8 training.
    """
    key, num_devices = SIZES[size]
    cluster = Cluster(device=DEVICE, num_devices=num_devices, zero_stage=3)
    rows = []
    for option in comparison.options:
        spec = as_gpt(MODELS[key]) if option.run.get("family") == "gpt" else MODELS[key]
        recipe = _recipe(option.budget)
        tokens = cluster.data * recipe.num_tokens * recipe.accumulation
        rows.append(Scaled(
            label=_(option.label), memory=training_budget(spec, recipe, cluster),
            seconds=training_time(spec, recipe, cluster, tokens, MFU),
            is_counted=bool(option.budget) or comparison.axis == "family",
        ))  # fmt: skip
    if comparison.axis == "precision":
        spec, recipe = MODELS[key], _recipe(AXES["precision"].options["bf16"].budget)
        seconds = fp8_seconds(spec, recipe, cluster)
        # As torchao does it: faster products, no byte less.
        memory = training_budget(spec, recipe, cluster)
        rows.append(Scaled(label=_(FP8), memory=memory, seconds=seconds))
    return tuple(rows)


def as_gpt(spec: ModelSpec) -> ModelSpec:
    """Return a GPT-2-like model as wide and as deep as a Llama-like one."""
    return replace(
        spec, name=_("GPT-2-like, as wide and deep"), num_kv_heads=spec.num_heads,
        ffn_dim=4 * spec.hidden_dim, gated=False, norm="layer", tied=True,
        learned_positions=spec.seq_len, published=0,
    )  # fmt: skip


def _recipe(changes: Mapping[str, Any]) -> TrainingRecipe:
    plain = {"batch_size": BATCH, "seq_len": SEQ_LEN, "precision": "fsdp2", "checkpointing": "full"}
    return TrainingRecipe(**{**plain, **changes})


def fp8_seconds(spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster) -> Item:
    """Return the seconds of a step whose linear layers multiply in fp8."""
    step = step_flops(spec, recipe)
    values = {
        "step_flops": step.amount, "kept_flops": _kept_in_16_bits(step), "mfu": MFU,
        "flops_per_second": peak_of(cluster.device, recipe.precision),
        "fp8_flops_per_second": cluster.device.peak["fp8"],
    }  # fmt: skip
    kind = weakest(["estimated", cluster.device.known_of("fp8")])
    parts = [
        item(name, formula, values, unit="s", source=_SOURCE, kind=kind, band=(0.1, 0.5))
        for name, formula in ((N_("products in fp8"), IN_FP8), (N_("kept in bf16"), IN_16_BITS))
    ]
    parts.append(exposed_seconds(spec, recipe, cluster))
    return total(N_("training time"), parts, source=_STEP)


def _kept_in_16_bits(step: Item) -> Number:
    """Return the FLOPs of attention's scores and of the head, all times that they are computed."""
    forward, extra = step.child("forward"), step.child("extra work")
    scores = sum(part.amount for part in forward.walk() if is_scores(part))
    head = sum(part.amount for part in forward.walk() if part.name == "head")
    again = {part.name: part.amount for part in extra.children}
    repeated = scores if "blocks again" in again else 0
    return 3 * (scores + head) + again["scores again"] + repeated
