"""Jobs that a device may hold: serving or training a model in one of several ways.

What a job needs does not depend on the device: it is worked out once and held against many.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol, Self

from core.budget.catalogue.devices import DEVICES
from core.budget.cluster import Cluster, DeviceSpec
from core.budget.item import Item
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.serving.memory import serving_memory
from core.budget.serving.plan import ServingPlan, with_context
from core.budget.training.memory import training_budget
from core.language import N_
from core.models.spec import ModelSpec

Size = Literal["sequences", "tokens"]
_ANY_DEVICE: Final = DEVICES["h100-sxm"]  # a need is the same on every device

SERVING_FORMATS: Final[Mapping[str, str]] = {
    "fp32": "float32",
    "bf16": "bfloat16",
    "fp8": "fp8_block128",
    "int8": "int8_channel",
    "int4": "int4_group128",
    "nf4": "nf4_double_quant",
}
"""Short name -> how the matrices are stored: a name of `core.dtypes`."""

WIDE: Final = "bf16"  # the way of a model that its makers did not quantize

TRAINING_WAYS: Final[Mapping[str, str]] = {
    "fp32": N_("everything in fp32"),
    "mixed": N_("mixed precision"),
    "adam8bit": N_("mixed, 8-bit Adam"),
    "bf16": N_("everything in bf16"),
    "lora": N_("LoRA on bf16 weights"),
    "qlora": N_("LoRA on NF4 weights"),
}
"""Short name -> what it is, a message id."""


class Job(Protocol):
    """What the matrix and the solver ask of a job."""

    def need(self, spec: ModelSpec) -> Item:
        """Return the bytes of the most loaded device; ValueError if the model cannot be split."""

    def on(self, num_devices: int) -> Self:
        """Return the job spread over that many devices."""

    def counts(self, most: int) -> Iterator[int]:
        """Yield the numbers of devices to be tried, the fewest first: 1, 2, 4 ... up to `most`."""
        return (2**power for power in range(most.bit_length()))

    def sized(self, size: Size, amount: int) -> Self:
        """Return the job with that many sequences at once, or tokens in each."""


@dataclass(frozen=True, slots=True)
class Serving(Job):
    """Serving by a plan; a context beyond the model's own is cut to it."""

    plan: ServingPlan

    def need(self, spec: ModelSpec) -> Item:
        """Return weights, KV cache and workspace on one device."""
        plan = self.plan
        if plan.context > spec.seq_len:
            plan = with_context(plan, spec.seq_len)
        return serving_memory(spec, plan)

    def on(self, num_devices: int) -> Self:
        """Return the plan with every matrix shared by that many devices."""
        return type(self)(replace(self.plan, tensor=num_devices))

    def sized(self, size: Size, amount: int) -> Self:
        """Return the plan with other sequences."""
        if size == "sequences":
            return type(self)(replace(self.plan, concurrency=amount))
        return type(self)(with_context(self.plan, amount))


def serving_ways(plan: ServingPlan, spec: ModelSpec | None = None) -> Mapping[str, Serving]:
    """Return the plan in every format of the weights; with a model also in that of its files."""
    formats = dict(SERVING_FORMATS)
    if spec is not None:
        formats[released_way(spec)] = spec.quantized or formats[WIDE]
    return {way: Serving(replace(plan, weight_format=fmt)) for way, fmt in formats.items()}


def released_way(spec: ModelSpec) -> str:
    """Return the way in which a model is served as its makers publish it, in 16 bits or fewer."""
    known = {fmt: way for way, fmt in SERVING_FORMATS.items()}
    return known.get(spec.quantized, spec.quantized) or WIDE


@dataclass(frozen=True, slots=True)
class Training(Job):
    """Training by a recipe, everything sharded over all devices (ZeRO-3, FSDP2)."""

    recipe: TrainingRecipe
    num_devices: int = 1

    def need(self, spec: ModelSpec) -> Item:
        """Return states, the peak of a step and the overhead on the most loaded device."""
        recipe = self.recipe
        if recipe.seq_len > spec.seq_len:
            recipe = replace(recipe, seq_len=spec.seq_len)
        return training_budget(spec, recipe, self.cluster(_ANY_DEVICE)).largest

    def cluster(self, device: DeviceSpec) -> Cluster:
        """Return the devices, as many as the job is spread over."""
        sharding = 3 if self.num_devices > 1 else 0
        return Cluster(device=device, num_devices=self.num_devices, zero_stage=sharding)

    def on(self, num_devices: int) -> Self:
        """Return the recipe with its states sharded over that many devices."""
        return replace(self, num_devices=num_devices)

    def sized(self, size: Size, amount: int) -> Self:
        """Return the recipe with other sequences."""
        if size == "sequences":
            return replace(self, recipe=replace(self.recipe, batch_size=amount))
        return replace(self, recipe=replace(self.recipe, seq_len=amount))


def training_ways(recipe: TrainingRecipe) -> Mapping[str, Training]:
    """Return the recipe in every way of training, its lengths and checkpointing kept."""
    adapters = recipe.lora or LoRA()
    changed = {
        "fp32": replace(recipe, precision="fp32", lora=None),
        "mixed": replace(recipe, precision="mixed_bf16", lora=None),
        "adam8bit": replace(recipe, precision="mixed_bf16", optimizer="adam8bit", lora=None),
        "bf16": replace(recipe, precision="pure_bf16", lora=None),
        "lora": replace(
            recipe, precision="pure_bf16", lora=replace(adapters, base_format="bfloat16")
        ),
        "qlora": replace(
            recipe, precision="pure_bf16", lora=replace(adapters, base_format="nf4_double_quant")
        ),
    }
    return {way: Training(changed[way]) for way in TRAINING_WAYS}
