"""Training as a job that a device may hold: a recipe, its states sharded over the devices."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Self

from core.budget.catalogue.devices import DEVICES
from core.budget.cluster import Cluster
from core.budget.compute.jobs import Size
from core.budget.item import Item
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.training_budget import training_budget
from core.language import N_
from core.models.spec import ModelSpec

_ANY_DEVICE: Final = DEVICES["h100-sxm"]  # a need is the same on every device


@dataclass(frozen=True, slots=True)
class Training:
    """Training by a recipe, everything sharded over all devices (ZeRO-3, FSDP2)."""

    recipe: TrainingRecipe
    num_devices: int = 1

    def need(self, spec: ModelSpec) -> Item:
        """Return states, the peak of a step and the overhead on the most loaded device."""
        recipe = self.recipe
        if recipe.seq_len > spec.seq_len:
            recipe = replace(recipe, seq_len=spec.seq_len)
        cluster = Cluster(
            device=_ANY_DEVICE,
            num_devices=self.num_devices,
            zero_stage=3 if self.num_devices > 1 else 0,
        )
        return training_budget(spec, recipe, cluster).largest

    def on(self, num_devices: int) -> Self:
        """Return the recipe with its states sharded over that many devices."""
        return replace(self, num_devices=num_devices)

    def sized(self, size: Size, amount: int) -> Self:
        """Return the recipe with other sequences."""
        if size == "sequences":
            return replace(self, recipe=replace(self.recipe, batch_size=amount))
        return replace(self, recipe=replace(self.recipe, seq_len=amount))


TRAINING_WAYS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "fp32": N_("everything in fp32"),
        "mixed": N_("mixed precision, 16 bytes"),
        "adam8bit": N_("mixed, 8-bit Adam"),
        "bf16": N_("everything in bf16"),
        "lora": N_("LoRA on bf16 weights"),
        "qlora": N_("LoRA on NF4 weights"),
    }
)
"""Short name -> what it is, a message id."""


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
