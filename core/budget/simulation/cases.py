"""What can be simulated, and the fresh process that simulates it; never imports torch here."""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Final

from core.budget.catalogue.models import PARTS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.simulation.timeline import StepReport, read_report
from core.budget.training.scenario import check_recipe
from core.language import N_, _
from core.machine.child import lines_of
from core.models.spec import Beyond, ModelSpec

_NOT_SIMULATED: Final = {
    "fsdp2": N_("FSDP2 shares its weights out over several devices; one is simulated. Take fp32."),
    "cs336_12": N_(
        "No optimizer of torch keeps fp32 moments for bf16 weights; take pure_bf16 or mixed_bf16."
    ),
}
SIMULATED: Final = tuple(key for key in PRECISIONS if key not in _NOT_SIMULATED)
SIMULATION_SECONDS: Final = 180


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
    lora = recipe["lora"]
    for name, kind in PARTS.items():
        spec[name] = kind(**spec[name]) if spec[name] else None
    spec |= {name: tuple(value) for name, value in spec.items() if isinstance(value, list)}
    spec["beyond"] = tuple(Beyond(**each) for each in spec["beyond"])
    recipe["lora"] = LoRA(**lora | {"targets": tuple(lora["targets"])}) if lora else None
    return ModelSpec(**spec), TrainingRecipe(**recipe)


def run_simulation(
    spec: ModelSpec,
    recipe: TrainingRecipe,
    on_progress: Callable[[str, str], None] = lambda _phase, _module: None,
) -> StepReport:
    """Simulate a step and return its short.

    Raises:
        ValueError: If the recipe cannot be simulated, or the child process failed.
    """
    check_case(spec, recipe)
    last = ""
    case = write_case(spec, recipe)
    for line in lines_of("core.budget.simulation", [case], seconds=SIMULATION_SECONDS):
        phase, tab, module = line.partition("\t")
        if tab:
            on_progress(phase, module)
        last = line
    return read_report(last)
