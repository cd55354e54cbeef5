"""What can be simulated, and how it travels to the process that does it; needs no torch."""

import json
from dataclasses import asdict
from typing import Any, Final

from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.precisions import PRECISIONS
from core.budget.training.training_budget import check_recipe
from core.language import N_, _
from core.models.spec import LatentAttention, Mixture, ModelSpec

_NOT_SIMULATED: Final = {
    "fsdp2": N_("FSDP2 shares its weights out over several devices; one is simulated. Take fp32."),
    "cs336_12": N_(
        "No optimizer of torch keeps fp32 moments for bf16 weights; take pure_bf16 or mixed_bf16."
    ),
}
SIMULATED: Final = tuple(key for key in PRECISIONS if key not in _NOT_SIMULATED)


def check_case(spec: ModelSpec, recipe: TrainingRecipe) -> None:
    """Refuse what the simulation cannot run.

    Raises:
        ValueError: The sentence says why.
    """
    check_recipe(spec, recipe)
    if recipe.precision in _NOT_SIMULATED:
        raise ValueError(_(_NOT_SIMULATED[recipe.precision]))
    precision = PRECISIONS[recipe.precision]
    if recipe.lora is not None and precision.weights != 2:
        raise ValueError(
            _("The simulation keeps the frozen weights of LoRA in 16 bits; take mixed_bf16.")
        )
    if precision.copies and spec.mixture is not None:
        raise ValueError(_("The simulation has no autocast for experts; take mixed_bf16."))


def write_case(spec: ModelSpec, recipe: TrainingRecipe) -> str:
    """Return what is to be simulated as one line of JSON."""
    return json.dumps({"spec": asdict(spec), "recipe": asdict(recipe)})


def read_case(line: str) -> tuple[ModelSpec, TrainingRecipe]:
    """Return what `write_case` wrote.

    Raises:
        ValueError: If the model or the recipe cannot be; the sentence says why.
    """
    case = json.loads(line)
    spec, recipe = case["spec"], case["recipe"]
    return (
        ModelSpec(
            **spec
            | {
                "mixture": _part(Mixture, spec["mixture"]),
                "latent": _part(LatentAttention, spec["latent"]),
            }
        ),
        TrainingRecipe(**recipe | {"lora": _lora(recipe["lora"])}),
    )


def _part(kind: type[Any], fields: dict[str, Any] | None) -> Any:  # noqa: ANN401  one of two kinds
    return None if fields is None else kind(**fields)


def _lora(fields: dict[str, Any] | None) -> LoRA | None:
    return None if fields is None else LoRA(**fields | {"targets": tuple(fields["targets"])})
