"""Two pins and the way from one to the other: what is compared, and in which steps."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.budget.budget import Budget
from core.budget.comparison.difference import Difference, one_by_one
from core.budget.training.memory import training_budget
from core.budget.training.scenario import Scenario
from core.figures.budget.training_memory.waterfall import Rung, Way
from core.language import N_, _
from pages.budget.training_memory.pins import NOW, PAGE, SLOTS
from pages.budget.training_memory.scenario_words import change_text, why
from pages.shared import pickers
from pages.shared.settings import presenting

MOST_RUNGS: Final = 7
MOST_PRESENTED: Final = 4
VIEWS: Final[Mapping[str, str]] = {
    "parts": N_("what the bytes are"),
    "choices": N_("which choice did it"),
    "table": N_("table"),
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two pins that are compared, each with its letter."""

    first: str
    last: str


def choose_pair(budgets: Mapping[str, Budget]) -> tuple[Pair | None, str]:
    """Ask what is compared; a letter that stands for nothing gives way to the setting above."""
    letters = (*SLOTS, NOW)
    label = letter_label
    first = pickers.segmented(PAGE, "from", _("From"), letters, default="A", labels=label)
    last = pickers.segmented(PAGE, "to", _("To"), letters, default="C", labels=label)
    view = pickers.segmented(
        PAGE,
        "change",
        _("The change by"),
        tuple(VIEWS),
        default="parts",
        labels=lambda each: _(VIEWS[each]),
    )
    chosen = [letter if letter in budgets else NOW for letter in (first, last)]
    if not set(chosen) <= set(budgets):
        return None, view
    for letter in sorted({first, last} - set(budgets)):
        st.caption(_("{slot} is empty; the setting above stands in.").format(slot=letter))
    return Pair(*chosen), view


def letter_label(letter: str) -> str:
    """Return what a pin is called."""
    return _("now") if letter == NOW else letter


def by_part(pair: Pair, changed: Difference) -> Way:
    """Return the way by what the bytes are."""
    rungs = [Rung(_(step.path[-1]), step.change, why(step)) for step in changed.changed]
    return _way(pair, changed.before.amount, rungs)


def by_choice(pair: Pair, pins: Mapping[str, Scenario]) -> Way:
    """Return the way by which choice did it, one after the other."""
    first, last = pins[pair.first], pins[pair.last]
    steps = one_by_one(
        first, last, lambda each: training_budget(each.spec, each.recipe, each.cluster).item
    )
    rungs = [Rung(change_text(step.names, first, last), step.change) for step in steps]
    start = training_budget(first.spec, first.recipe, first.cluster).item.amount
    return _way(pair, start, rungs)


def _way(pair: Pair, start: float, rungs: list[Rung]) -> Way:
    """Return the way with its largest changes in their order, the small ones together."""
    most = MOST_PRESENTED if presenting() else MOST_RUNGS
    large = sorted(rungs, key=lambda rung: -abs(rung.change))[:most]
    kept = [rung for rung in rungs if rung in large]
    rest = sum(rung.change for rung in rungs if rung not in large)
    if rest:
        kept.append(Rung(_("the rest"), rest))
    first, last = letter_label(pair.first), letter_label(pair.last)
    return Way(first=first, last=last, start=start, rungs=kept)
