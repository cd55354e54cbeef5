"""The text or the file, whatever it is: an error, a recipe, a log, a trace, a measured peak."""

from typing import Final

from core.budget.diagnosis.brought.record import Brought
from core.budget.diagnosis.measured import MeasuredPeak
from core.budget.diagnosis.out_of_memory import OutOfMemory
from core.language import N_
from core.train.profiler.trace import Profile
from pages.plan.diagnose.inputs import Case
from pages.plan.diagnose.log import show_log
from pages.plan.diagnose.measured import show_measured
from pages.plan.diagnose.out_of_memory import show_out_of_memory
from pages.plan.diagnose.recipe import show_recipe
from pages.plan.diagnose.trace import show_trace
from pages.shared.tabbed_page import Shown, Tab


def show_told(case: Case) -> Shown:
    """Show what the file says, or without one the text."""
    told = case.told()
    if isinstance(told, OutOfMemory):
        return show_out_of_memory(told, case.chosen.plan)
    if isinstance(told, MeasuredPeak):
        return show_measured(told, case.chosen.plan)
    if isinstance(told, Profile):
        return show_trace(told)
    if isinstance(told, Brought):
        return show_recipe(told, case.chosen)
    return show_log(told, case.chosen.plan)


TAB: Final = Tab(label=N_("Text or file"), show=show_told)
