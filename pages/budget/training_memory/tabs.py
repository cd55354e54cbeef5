"""The pictures of the memory page, one a tab: only the open one is computed."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import streamlit as st

from core.budget.budget import Budget
from core.budget.training.memory import training_budget
from core.budget.training.scenario import Scenario
from core.language import N_, _
from pages.budget.training_memory.allocator import show_allocator
from pages.budget.training_memory.bar import show_bar
from pages.budget.training_memory.inputs import PAGE
from pages.budget.training_memory.items import show_items
from pages.budget.training_memory.ladder import show_ladder
from pages.budget.training_memory.recipes import show_recipes
from pages.budget.training_memory.scenarios import show_scenarios
from pages.budget.training_memory.step_timeline import show_timeline
from pages.budget.training_memory.tiny_model import show_tiny_model
from pages.shared import pickers
from pages.shared.budget.long_context import note_long_context
from pages.shared.header import headline

CSS: Final = Path(__file__).with_name("page.css")
TABS: Final = {
    "bar": N_("Device"),
    "items": N_("Lines"),
    "recipes": N_("Recipes"),
    "timeline": N_("Step timeline"),
    "scenarios": N_("Scenarios"),
    "ladder": N_("Ladder"),
    "allocator": N_("Allocator"),
    "tiny": N_("By hand"),
}
WITHOUT_INPUTS: Final = frozenset({"ladder", "allocator", "tiny"})
NO_INPUTS: Final = Path(__file__).with_name("without_inputs.css")
_OF_CASE: Final[Mapping[str, Callable[[Scenario], None]]] = {
    "recipes": show_recipes,
    "timeline": show_timeline,
    "scenarios": show_scenarios,
    "ladder": show_ladder,
    "allocator": show_allocator,
    "tiny": show_tiny_model,
}
_OF_BUDGET: Final[Mapping[str, Callable[[Scenario, Budget], None]]] = {
    "bar": show_bar,
    "items": show_items,
}


def choose_tab() -> str:
    """Show the tabs and return the open one."""
    return pickers.segmented(
        PAGE, "tab", _("Show"), tuple(TABS), default="bar", labels=lambda tab: _(TABS[tab])
    )


def show_tab(tab: str, case: Scenario) -> None:
    """Show the open tab; a setting that cannot be is a sentence."""
    if tab in WITHOUT_INPUTS:  # they have a setting of their own; the page's is kept, unseen
        st.html(NO_INPUTS)
    else:
        note_long_context(case.spec, case.recipe.seq_len)
    if tab in _OF_CASE:
        _OF_CASE[tab](case)
        return
    try:
        budget = training_budget(case.spec, case.recipe, case.cluster)
    except ValueError as problem:
        headline(_("This setting cannot be trained."))
        st.error(str(problem))
        return
    _OF_BUDGET[tab](case, budget)
