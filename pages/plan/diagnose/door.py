"""The text or the file, whatever it is: an error, a recipe, a log, a trace, a measured peak."""

from typing import Final

from core.budget.diagnosis.brought.record import Brought
from core.budget.diagnosis.measured import MeasuredPeak
from core.budget.diagnosis.out_of_memory import OutOfMemory
from core.figures.train.icicle import icicle_picture
from core.language import N_, _
from core.train.profiler.trace import Profile, trace_sentence, verdict_of
from pages.plan.diagnose.inputs import Case
from pages.plan.diagnose.log import show_log
from pages.plan.diagnose.measured import show_measured
from pages.plan.diagnose.out_of_memory import show_out_of_memory
from pages.plan.diagnose.recipe import show_recipe
from pages.shared.page_links import show_link
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab


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


def show_trace(profile: Profile) -> Shown:
    """Show what bounds a step over the tree of its operators; Step profiler has their table."""
    label = _("Self and total time of every operator, on Step profiler →")
    return Shown(
        headline=trace_sentence(profile),
        line=verdict_of(profile.spans)[1],
        charts=[Chart(picture=icicle_picture(profile, look()), file_name="operators")],
        below=lambda: show_link("train/step_profiler", label, {"profile_tab": "operators"}),
    )


TAB: Final = Tab(label=N_("Text or file"), show=show_told)
