"""One whole setting of a training budget, and whether it can be."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from core.budget.catalogue.optimizers import OPTIMIZERS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.catalogue.profiles import PROFILES
from core.budget.check import check_choice, check_range
from core.budget.cluster import Cluster
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.weights.adapters import adapted
from core.dtypes.blocks.block_formats import BLOCK_FORMATS
from core.dtypes.number_formats.table import FORMATS
from core.language import _
from core.models.spec import ModelSpec

RECIPE_FIELDS: Final = tuple(each.name for each in fields(TrainingRecipe))
CLUSTER_FIELDS: Final = tuple(each.name for each in fields(Cluster) if each.name != "device")


@dataclass(frozen=True, kw_only=True, slots=True)
class Scenario:
    """A model, how it is trained and on what."""

    spec: ModelSpec
    recipe: TrainingRecipe
    cluster: Cluster

    @property
    def choices(self) -> Mapping[str, Any]:
        """Every choice by name, the model as its spec and the device as what it is."""
        recipe = {name: getattr(self.recipe, name) for name in RECIPE_FIELDS}
        cluster = {name: getattr(self.cluster, name) for name in CLUSTER_FIELDS}
        return {"model": self.spec, "device": self.cluster.device, **cluster, **recipe}

    def tidied(self) -> "Scenario":
        """Return the scenario with the default for every choice that plays no part in it."""
        recipe, cluster = self.recipe, self.cluster
        if recipe.checkpointing != "every_k":
            recipe = replace(recipe, checkpoint_every=1)
        if not (cluster.zero_stage == 3 and PRECISIONS[recipe.precision].casts_shards):
            recipe = replace(recipe, reduce_dtype="none")
        if cluster.tensor == 1:
            cluster = replace(cluster, sequence_parallel=False)
        return replace(self, recipe=recipe, cluster=cluster)


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
            ).format(model=spec.name, targets=_(", ").join(lora.targets))
        )
