"""What changed from one setting to another: by what the bytes are, or choice by choice.

A scenario is a whole setting: a model, how it is trained, on which devices. The last one is what
the inputs say; the first is an example, or what the reader has kept as A.
"""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.budget.comparison.difference import Difference, one_by_one, peak_difference
from core.budget.item import Item
from core.budget.training.memory import training_budget
from core.budget.training.scenario import Scenario, read_scenario
from core.figures.budget.training_memory.scenarios import (
    MOST_RUNGS,
    Rung,
    Way,
    signed,
    waterfall_picture,
)
from core.language import _
from pages.plan.training_memory.inputs import Case
from pages.plan.training_memory.old_pins import EXAMPLE
from pages.plan.training_memory.words import change_text, setting_text, that_differ, why
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown


def from_example(case: Case) -> Shown:
    """Show the way from an example to the setting of the page."""
    texts = [
        _("A is an example: {setting}. “Compare with…” keeps a setting of your own as A."),
        _("B is the setting of the page: {setting}."),
    ]
    return _way(read_scenario(EXAMPLE), case.scenario.tidied(), case.view, texts)


def from_a_to_b(a: Sequence[Case], b: Sequence[Case]) -> Shown:
    """Show the way from the setting that was kept to that of the page."""
    (first,), (last,) = a, b
    texts = [_("A was kept: {setting}."), _("B is the setting of the page: {setting}.")]
    return _way(first.scenario.tidied(), last.scenario.tidied(), last.view, texts)


def _way(first: Scenario, last: Scenario, view: str, texts: Sequence[str]) -> Shown:
    """Show the way as a waterfall; the texts say what its two ends are."""
    ends = [training_budget(each.spec, each.recipe, each.cluster).item for each in (first, last)]
    changed = peak_difference(*ends)
    rungs = _by_choice(first, last) if view == "choices" else _by_part(changed)
    differing = that_differ([first, last])
    settings = [
        text.format(setting=setting_text(each, differing))
        for text, each in zip(texts, (first, last), strict=True)
    ]
    way = Way(first="A", last="B", start=ends[0].amount, rungs=rungs, settings=settings)
    picture = waterfall_picture(way.shortened(MOST_RUNGS[presenting()]), look())
    return Shown(
        headline=sentence(*ends),
        charts=[Chart(picture=picture, file_name="what-changed")],
        numbers=list(zip("AB", ends, strict=True)),
        beside=partial(_say, settings),
        widths=(3, 1),
        notes=[
            _("The largest moment was “{before}” and is now “{after}”.").format(
                before=_(move.before), after=_(move.after)
            )
            for move in changed.moves
        ],
    )


def _by_part(changed: Difference) -> list[Rung]:
    """Return the way by what the bytes are."""
    return [Rung(_(step.path[-1]), step.change, why(step)) for step in changed.changed]


def _by_choice(first: Scenario, last: Scenario) -> list[Rung]:
    """Return the way by which choice did it, one after the other."""
    steps = one_by_one(
        first, last, lambda each: training_budget(each.spec, each.recipe, each.cluster).item
    )
    return [Rung(change_text(step.names, first, last), step.change) for step in steps]


def sentence(first: Item, last: Item) -> str:
    """Return both peaks and the difference."""
    return _("A → B: {before} → {after} at the peak, {change}").format(
        before=look().format_bytes(first.amount),
        after=look().format_bytes(last.amount),
        change=signed(last.amount - first.amount, look()),
    )


def _say(sentences: Sequence[str]) -> None:
    with st.container():  # one below the other on a projector too
        for said in sentences:
            st.caption(said)
