"""Bytes for each parameter: the named recipes, or the optimizers, side by side."""

from dataclasses import replace
from pathlib import Path
from typing import Final

import streamlit as st

from core.budget.catalogue.optimizers import OPTIMIZERS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.item import Item
from core.budget.training.scenario import Scenario
from core.budget.training.states import bytes_per_parameter, largest_by_states, states_in_all
from core.budget.weights.parameters import counts
from core.figures.budget.training_memory.recipe_bars import recipe_alt, recipe_figure, recipe_table
from core.language import N_, _
from core.units import format_bytes, format_count
from pages.budget.training_memory.inputs import PAGE
from pages.budget.training_memory.words import optimizer_label
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.numbers import explained_number
from pages.shared.settings import presenting, theme_mode, unit_system

CSS: Final = Path(__file__).with_suffix(".css")
VIEWS: Final = {"precisions": N_("number formats"), "optimizers": N_("optimizers")}


def show_recipes(case: Scenario) -> None:
    """Show what one parameter costs, and how large a model some memory then holds."""
    st.html(CSS)
    words = st.container()
    view, gigabytes = _choose()
    rows, place = _rows(case, view)
    each = rows[place][1]
    largest = largest_by_states(gigabytes * 1e9, each)
    with words:
        headline(_sentence(case, each, largest, gigabytes))
    show_chart(
        recipe_figure(rows, place, theme_mode(), present=presenting()),
        key=f"{PAGE}_recipes",
        alt=recipe_alt(rows),
        table=recipe_table(rows),
        file_name="bytes-per-parameter",
    )
    with st.container(horizontal=True):
        explained_number(_("bytes for each parameter"), each)
        explained_number(_("largest model"), largest)
    st.caption(_against_weights(case))


def _choose() -> tuple[str, int]:
    """Return what is compared, and the memory that the states may take, in GB."""
    with st.container(key="memory_recipe_inputs", horizontal=True, vertical_alignment="bottom"):
        view = pickers.segmented(
            PAGE, "by", _("Compare"), tuple(VIEWS), default="precisions", labels=_view_label
        )
        gigabytes = pickers.number(
            PAGE, "states_gb", _("GB for states in all"), 1, 1_000_000, default=640, step=80,
            help=_("Eight devices of 80 GB are 640."),
        )  # fmt: skip
    return view, gigabytes


def _view_label(view: str) -> str:
    return _(VIEWS[view])


def _rows(case: Scenario, view: str) -> tuple[list[tuple[str, Item]], int]:
    """Return the bars and the place of the one in use."""
    recipe = case.recipe
    if view == "optimizers":
        rows = [
            (optimizer_label(key), bytes_per_parameter(recipe.precision, key)) for key in OPTIMIZERS
        ]
        return rows, list(OPTIMIZERS).index(recipe.optimizer)
    rows = [
        (_(row.label), bytes_per_parameter(key, recipe.optimizer))
        for key, row in PRECISIONS.items()
    ]
    return rows, list(PRECISIONS).index(recipe.precision)


def _sentence(case: Scenario, each: Item, largest: Item, gigabytes: int) -> str:
    return _(
        "{optimizer}, {recipe}: {each} bytes for each parameter; {memory} GB hold at most "
        "{count} parameters"
    ).format(
        recipe=_(PRECISIONS[case.recipe.precision].label),
        optimizer=optimizer_label(case.recipe.optimizer),
        each=f"{each.amount:.4g}",
        memory=f"{gigabytes:,}",
        count=format_count(largest.amount),
    )


def _against_weights(case: Scenario) -> str:
    """Say how many times the weights in 16 bits the states take, every weight trained."""
    weights = 2 * counts(case.spec).total
    whole = states_in_all(case.spec, replace(case.recipe, lora=None)).amount
    return _(
        "{model}: {states} before the first activation, {ratio} times its weights in 16 bits "
        "({weights})."
    ).format(
        model=case.spec.name,
        states=format_bytes(whole, unit_system()),
        ratio=f"{whole / weights:.3g}",
        weights=format_bytes(weights, unit_system()),
    )
