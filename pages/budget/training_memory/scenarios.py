"""Pinned scenarios side by side, and what changed between two of them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.budget import Budget, at_peak
from core.budget.comparison.difference import Difference, peak_difference
from core.budget.item import Item
from core.budget.training.memory import training_budget
from core.budget.training.scenario import Scenario
from core.figures.budget.training_memory.waterfall import (
    Way,
    signed,
    waterfall_alt,
    waterfall_figure,
    waterfall_table,
)
from core.language import _
from core.units import format_bytes
from pages.budget.training_memory.pins import NOW, PAGE, read_pins, show_pin_buttons
from pages.budget.training_memory.scenario_ways import (
    Pair,
    by_choice,
    by_part,
    choose_pair,
    letter_label,
)
from pages.budget.training_memory.scenario_words import scenario_table
from pages.shared.budget.beside import beside
from pages.shared.charts import show_chart, table_markdown
from pages.shared.header import headline
from pages.shared.numbers import explained_number
from pages.shared.settings import presenting, theme_mode, unit_system

CSS: Final = Path(__file__).with_suffix(".css")


def show_scenarios(case: Scenario) -> None:
    """Show up to four pinned scenarios as a table, and two of them as a waterfall.

    Args:
        case: The setting of the page now, which can be pinned.
    """
    now = case.tidied()
    pins = read_pins(now)
    budgets = _budgets(pins)
    with _controls():
        pair, view = choose_pair(budgets)
        show_pin_buttons(now)
    if pair is None:
        headline(_("Nothing can be compared: the setting above cannot be."))
        return
    first, last = budgets[pair.first], budgets[pair.last]
    headline(_sentence(pair, first.item, last.item))
    if view == "table":
        _show_table(pins, budgets)
        return
    changed = peak_difference(first.item, last.item)
    picture, numbers = beside(f"{PAGE}_pins")
    with picture:
        _show_way(by_choice(pair, pins) if view == "choices" else by_part(pair, changed))
        _show_moves(changed)
    with numbers:
        explained_number(letter_label(pair.first), first.item)
        explained_number(letter_label(pair.last), last.item)


def _controls() -> DeltaGenerator:
    """Return a row for the choices; on a projector it opens at a click."""
    if presenting():
        return st.popover(_("Compare"), icon=":material/compare_arrows:", key=f"{PAGE}_compare")
    return st.container(key=f"{PAGE}_pair", horizontal=True, vertical_alignment="bottom")


def _show_table(pins: Mapping[str, Scenario], budgets: Mapping[str, Budget]) -> None:
    shown = {letter: pins[letter] for letter in budgets}
    parts = {letter: _parts(budget) for letter, budget in budgets.items()}
    table = scenario_table(shown, budgets, parts)
    st.html(CSS)
    with st.container(key=f"{PAGE}_pin_table"):
        st.markdown(table_markdown({letter_label(name): cells for name, cells in table.items()}))
    with st.container(key=f"{PAGE}_pin_peaks", horizontal=True):
        for letter, budget in budgets.items():
            explained_number(letter_label(letter), budget.item)


def _budgets(pins: Mapping[str, Scenario]) -> dict[str, Budget]:
    """Return the budgets of all pins that can be; say why of those that cannot."""
    found: dict[str, Budget] = {}
    for letter, pin in pins.items():
        try:
            found[letter] = training_budget(pin.spec, pin.recipe, pin.cluster)
        except ValueError as error:
            st.caption(_left_out(letter).format(slot=letter, why=error))
    return found


def _left_out(letter: str) -> str:
    if letter == NOW:
        return _("The setting above is left out. {why}")
    return _("Pin {slot} is left out. {why}")


def _sentence(pair: Pair, first: Item, last: Item) -> str:
    unit = unit_system()
    return _("{first} → {last}: {before} → {after} at the peak, {change}").format(
        first=letter_label(pair.first),
        last=letter_label(pair.last),
        before=format_bytes(first.amount, unit),
        after=format_bytes(last.amount, unit),
        change=signed(last.amount - first.amount, unit),
    )


def _show_way(way: Way) -> None:
    unit = unit_system()
    show_chart(
        waterfall_figure(way, unit, theme_mode(), present=presenting()),
        key=f"{PAGE}_waterfall",
        alt=waterfall_alt(way, unit),
        table=waterfall_table(way, unit),
        file_name="what-changed",
    )


def _show_moves(changed: Difference) -> None:
    for move in changed.moves:
        st.caption(
            _("The largest moment was “{before}” and is now “{after}”.").format(
                before=_(move.before), after=_(move.after)
            )
        )


def _parts(budget: Budget) -> Mapping[str, float]:
    """Return the parts that fill the device together, by name."""
    return {part.name: part.amount for part in at_peak(budget.largest)}
