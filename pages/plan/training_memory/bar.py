"""The headline picture: what each device holds at the peak against its capacity."""

from collections.abc import Sequence
from functools import partial
from math import inf
from typing import Final

import streamlit as st

from core.budget.budget import Budget, at_peak
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.cluster import DeviceSpec
from core.budget.comparison.one_device import on_one_device
from core.budget.item import Item, hedged
from core.budget.training.memory import allocated, not_counted, training_budget
from core.budget.training.scenario import Scenario
from core.budget.training.states import trained_parameters
from core.budget.weights.parameters import counts
from core.figures.budget.device_bars import MOST_BARS, DeviceBar, bar_picture
from core.language import _
from core.language.listing import followed_by
from core.units import format_exact, format_percent
from pages.plan.training_memory.inputs import Case, write_code
from pages.plan.training_memory.words import short_words, that_differ
from pages.shared.beside import Compared, shown, two_names
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

RESIDENTS: Final = ("weights", "gradients", "optimizer", "activations", "logits and loss", "data")


def bar(case: Case) -> Shown:
    """Show one bar a stage, and the parts of the fullest as numbers that explain themselves."""
    scenario = case.scenario
    budget = training_budget(scenario.spec, scenario.recipe, scenario.cluster)
    picture = bar_picture(device_bars(budget), budget.capacity, look())
    parts = {part.name: part for part in at_peak(budget.largest)}
    return Shown(
        headline=sentence(scenario, budget),
        charts=[Chart(picture=picture, file_name="training-memory")],
        numbers=[(_(name), parts[name]) for name in RESIDENTS if name in parts],
        numbers_below=True,
        below=partial(_explain, scenario, budget),
    )


def two_settings(a: Sequence[Case], b: Sequence[Case]) -> Shown:
    cases = [*a, *b]
    tidied = [case.scenario.tidied() for case in cases]
    names = two_names(*(short_words(each, that_differ(tidied)) for each in tidied))
    return shown(*map(_side, cases, names))


def _side(case: Case, name: str) -> Compared:
    scenario = case.scenario
    budget = training_budget(scenario.spec, scenario.recipe, scenario.cluster)
    parts = sorted(at_peak(budget.largest), key=lambda part: -part.amount)
    return Compared(
        name=name,
        rows=[(_("peak"), budget.item), *((_(part.name), part) for part in parts)],
        verdict=budget.words,
        code=write_code(case),
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
    return max(stage.child("step peak").children, key=lambda moment: moment.amount)


def sentence(case: Scenario, budget: Budget) -> str:
    """Return what the fullest device holds, most of it what, and whether it fits."""
    most = max(at_peak(budget.largest), key=lambda part: part.amount)
    words = {
        "model": case.spec.name,
        "amount": hedged(look().format_bytes(budget.item.amount), budget.item),
        "capacity": look().format_bytes(budget.capacity),
        "device": case.cluster.device.name,
        "verdict": budget.words,
        "part": _(most.name),
        "most": look().format_bytes(most.amount),
    }
    if case.recipe.lora is not None:
        trained, whole = trained_parameters(case.spec, case.recipe), counts(case.spec).total
        return _(
            "{count} parameters of {model} are trained ({share}) in {amount}; one {device} has "
            "{capacity}: {verdict}"
        ).format(count=format_exact(trained), share=format_percent(trained / whole), **words)
    if case.cluster.num_devices == 1:
        return _(
            "Training {model} needs {amount} ({part} {most}); one {device} has {capacity}: "
            "{verdict}"
        ).format(**words)
    return _(
        "Training {model} needs {amount} ({part} {most}) on each of {count} devices; one {device} "
        "has {capacity}: {verdict}"
    ).format(count=format_exact(case.cluster.num_devices), **words)


def _explain(case: Scenario, budget: Budget) -> None:
    """Say when the peak is, how sure the sum is, and what no device has confirmed."""
    stage = budget.largest
    moment = _(
        "The peak is at the {moment}. With the allocator's reserve and communication buffers: "
        "{low} to {high}."
    ).format(
        moment=_(peak_moment(stage).name),
        low=look().format_bytes(stage.low),
        high="?" if stage.high == inf else look().format_bytes(stage.high),
    )
    nominal = _nominal(case.cluster.device)
    st.caption(followed_by(moment, nominal) if nominal else moment)
    st.caption(not_counted())
    st.caption(beside_the_timeline(case, stage))
    if PRECISIONS[case.recipe.precision].copies:
        st.caption(
            _("Autocast is emulated from torch's list of operations; no GPU has measured it here.")
        )


def beside_the_timeline(case: Scenario, stage: Item) -> str:
    """Return why the step timeline says another number: tensors alone, of a model left whole."""
    if case.cluster.num_devices == 1:
        text = _(
            "Tensors alone take {tensors}, the peak that the tab “Step timeline” shows; the "
            "allocator reserves {rest} beyond them."
        )
    else:
        text = _(
            "Tensors alone take {tensors} here; the allocator's reserve and communication buffers "
            "add {rest}. The tab “Step timeline” shows the tensors of the whole model on one "
            "device: {whole}."
        )
    tensors = allocated(stage)
    return text.format(
        tensors=look().format_bytes(tensors),
        rest=look().format_bytes(stage.amount - tensors),
        whole=look().format_bytes(on_one_device(case).peak.amount),
    )


def _nominal(device: DeviceSpec) -> str:
    """Say what a sold device keeps for itself; of another only its usable memory is known."""
    if device.kind != "sold" or device.memory_usable >= device.memory_sold:
        return ""
    sizes = {
        "sold": look().format_bytes(device.memory_sold),
        "usable": look().format_bytes(device.memory_usable),
        "context": look().format_bytes(device.context),
    }
    if not device.context:
        return _("Of the nominal {sold} a process gets {usable}.").format(**sizes)
    said = _(
        "Of the nominal {sold} the driver and {context} of CUDA context leave {usable} for tensors."
    )
    return said.format(**sizes)
