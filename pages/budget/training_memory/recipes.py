"""Bytes for each parameter: the named recipes, or the optimizers, side by side."""

from dataclasses import replace
from functools import partial
from typing import Final

import streamlit as st

from core.budget.catalogue.optimizers import OPTIMIZERS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.item import Item
from core.budget.training.scenario import Scenario
from core.budget.training.states import bytes_per_parameter, largest_by_states, states_in_all
from core.budget.weights.parameters import counts
from core.figures.budget.training_memory.recipes import Rows, recipes_picture
from core.language import N_, _
from core.units import format_count
from pages.budget.training_memory.inputs import ASK, Case
from pages.budget.training_memory.words import LABELS
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

VIEWS: Final = {"precisions": N_("number formats"), "optimizers": N_("optimizers")}


def choose_recipes() -> tuple[str, int]:
    """Return what is compared, and the memory that the states may take, in GB."""
    view = ASK.segmented(
        "by", _("Compare"), tuple(VIEWS), default="precisions", labels=lambda view: _(VIEWS[view])
    )
    gigabytes = ASK.number(
        "states_gb",
        _("GB for states in all"),
        1,
        1_000_000,
        default=640,
        step=80,
        help=_("Eight devices of 80 GB are 640."),
    )
    return view, gigabytes


def recipes(case: Case, wanted: tuple[str, int]) -> Shown:
    """Show what one parameter costs, and how large a model some memory then holds."""
    scenario, (view, gigabytes) = case.scenario, wanted
    rows, place = _rows(scenario, view)
    each = rows[place][1]
    largest = largest_by_states(gigabytes * 1e9, each)
    return Shown(
        headline=sentence(scenario, each, largest, gigabytes),
        charts=[
            Chart(picture=recipes_picture(rows, place, look()), file_name="bytes-per-parameter")
        ],
        numbers=[(_("bytes for each parameter"), each), (_("largest model"), largest)],
        numbers_below=True,
        below=partial(_compare_with_weights, scenario),
    )


def _rows(case: Scenario, view: str) -> tuple[Rows, int]:
    """Return the bars and the place of the one in use."""
    recipe = case.recipe
    if view == "optimizers":
        rows = [
            (LABELS["optimizer"](key), bytes_per_parameter(recipe.precision, key))
            for key in OPTIMIZERS
        ]
        return rows, list(OPTIMIZERS).index(recipe.optimizer)
    rows = [
        (LABELS["precision"](key), bytes_per_parameter(key, recipe.optimizer)) for key in PRECISIONS
    ]
    return rows, list(PRECISIONS).index(recipe.precision)


def sentence(case: Scenario, each: Item, largest: Item, gigabytes: int) -> str:
    """Return the bytes for each parameter, and the largest model that some memory holds."""
    return _(
        "{optimizer}, {recipe}: {each} bytes for each parameter; {memory} GB hold at most "
        "{count} parameters"
    ).format(
        recipe=LABELS["precision"](case.recipe.precision),
        optimizer=LABELS["optimizer"](case.recipe.optimizer),
        each=f"{each.amount:.4g}",
        memory=f"{gigabytes:,}",
        count=format_count(largest.amount),
    )


def _compare_with_weights(case: Scenario) -> None:
    """Say how many times the weights in 16 bits the states take, every weight trained."""
    weights = 2 * counts(case.spec).total
    whole = states_in_all(case.spec, replace(case.recipe, lora=None)).amount
    st.caption(
        _(
            "{model}: {states} before the first activation, {ratio} times its weights in 16 bits "
            "({weights})."
        ).format(
            model=case.spec.name,
            states=look().format_bytes(whole),
            ratio=f"{whole / weights:.3g}",
            weights=look().format_bytes(weights),
        )
    )
