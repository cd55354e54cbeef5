"""A simulated step, run in a fresh child process; never imports torch here."""

from collections.abc import Callable
from typing import Final

from core.budget.recipe import TrainingRecipe
from core.budget.simulation.cases import check_case, write_case
from core.budget.simulation.report import StepReport, read_report
from core.machine.child import lines_of
from core.models.spec import ModelSpec

SIMULATION_SECONDS: Final = 180


def run_simulation(
    spec: ModelSpec,
    recipe: TrainingRecipe,
    on_progress: Callable[[str, str], None] = lambda _phase, _module: None,
) -> StepReport:
    """Simulate a step and return its short.

    Args:
        spec: The model.
        recipe: How it is trained.
        on_progress: Called a few times a second with the phase and the module.

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
