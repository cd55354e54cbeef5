"""The headline picture: what each device holds at the peak against its capacity."""

from typing import Final

import streamlit as st

from core.budget.budget import Budget, at_peak
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.cluster import DeviceSpec
from core.budget.item import Item
from core.budget.training.scenario import Scenario
from core.budget.training.states import trained_parameters
from core.budget.weights.parameters import counts
from core.figures.budget.training_memory.training_bar import (
    MOST_BARS,
    DeviceBar,
    bar_alt,
    bar_figure,
    bar_table,
)
from core.language import N_, _
from core.units import format_bytes, format_exact, format_percent
from pages.budget.training_memory.inputs import PAGE
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.numbers import explained_number
from pages.shared.settings import presenting, theme_mode, unit_system

VERDICTS: Final = {
    "fits": N_("it fits"),
    "close": N_("it may fit"),
    "too_big": N_("it does not fit"),
}
RESIDENTS: Final = ("weights", "gradients", "optimizer", "activations", "logits and loss", "data")


def show_bar(case: Scenario, budget: Budget) -> None:
    """Show one bar a stage, and the parts of the fullest as numbers that explain themselves."""
    headline(_sentence(case, budget))
    unit = unit_system()
    bars = device_bars(budget)
    show_chart(
        bar_figure(bars, budget.capacity, unit, theme_mode(), present=presenting()),
        key=f"{PAGE}_bar",
        alt=bar_alt(bars, budget.capacity, unit),
        table=bar_table(bars, unit),
        file_name="training-memory",
    )
    parts = {part.name: part for part in at_peak(budget.largest)}
    with st.container(key="memory_numbers", horizontal=True):
        for name in RESIDENTS:
            if name in parts:
                explained_number(_(name), parts[name])
    st.caption(_moment_sentence(budget) + _on_the_box(case.cluster.device))
    if PRECISIONS[case.recipe.precision].copies:
        st.caption(
            _("Autocast is emulated from torch's list of operations; no GPU has measured it here.")
        )


def device_bars(budget: Budget) -> tuple[DeviceBar, ...]:
    """Return the bars of the stages; of very many only the first and the last."""
    stages = budget.stages
    if len(stages) > MOST_BARS:
        half = MOST_BARS // 2
        stages = stages[:half] + stages[-half:]
    return tuple(
        DeviceBar(stage_label(stage), at_peak(stage), stage.low, stage.high) for stage in stages
    )


def stage_label(stage: Item) -> str:
    """Return what a stage is called, counted from 1 for people."""
    word, _space, number = stage.name.partition(" ")
    if word != "stage":
        return _("device")
    return _("stage {number}").format(number=int(number) + 1)


def peak_moment(stage: Item) -> Item:
    """Return the moment at which a stage holds most."""
    return max(stage.child("step peak").children, key=lambda moment: moment.amount)


def _sentence(case: Scenario, budget: Budget) -> str:
    unit = unit_system()
    words = {
        "model": case.spec.name,
        "amount": format_bytes(budget.item.amount, unit),
        "capacity": format_bytes(budget.capacity, unit),
        "device": case.cluster.device.name,
        "verdict": _(VERDICTS[budget.verdict]),
    }
    if case.recipe.lora is not None:
        return _lora_sentence(case, words)
    if case.cluster.num_devices == 1:
        return _("Training {model} needs {amount}; one {device} has {capacity}: {verdict}").format(
            **words
        )
    return _(
        "Training {model} needs {amount} on each of {count} devices; one {device} has "
        "{capacity}: {verdict}"
    ).format(count=format_exact(case.cluster.num_devices), **words)


def _lora_sentence(case: Scenario, words: dict[str, str]) -> str:
    trained, whole = trained_parameters(case.spec, case.recipe), counts(case.spec).total
    return _(
        "{count} parameters of {model} are trained ({share}) in {amount}; one {device} has "
        "{capacity}: {verdict}"
    ).format(count=format_exact(trained), share=format_percent(trained / whole), **words)


def _moment_sentence(budget: Budget) -> str:
    """Say when the peak is, and how sure the sum is."""
    unit, stage = unit_system(), budget.largest
    return _(
        "The peak is at the {moment}. With what the allocator and the network keep: {low} to "
        "{high}."
    ).format(
        moment=_(peak_moment(stage).name),
        low=format_bytes(stage.low, unit),
        high=format_bytes(stage.high, unit),
    )


def _on_the_box(device: DeviceSpec) -> str:
    """Say what a sold device keeps for itself; of another only its usable memory is known."""
    if device.kind != "sold" or device.memory_usable >= device.memory_sold:
        return ""
    unit = unit_system()
    return " " + _("Of the {sold} on the box a process gets {usable}.").format(
        sold=format_bytes(device.memory_sold, unit),
        usable=format_bytes(device.memory_usable, unit),
    )
