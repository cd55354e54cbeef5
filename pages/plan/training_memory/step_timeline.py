"""The step timeline: the closed form's moments, and the simulated step that proves them.

A simulation runs in one child process a case; this server keeps its report for every session.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.comparison.one_device import OneDevice, calibrate, on_one_device
from core.budget.item import Item
from core.budget.simulation.cases import run_simulation, write_case
from core.budget.simulation.timeline import StepReport
from core.budget.training.memory import allocated, training_budget
from core.budget.training.scenario import Scenario
from core.figures.budget.training_memory.step_timeline import (
    PHASE_WORDS,
    moments_picture,
    op_name,
    step_picture,
)
from core.figures.picture import Table
from core.language import _
from core.units import GIB, format_percent, format_seconds
from pages.plan.training_memory.inputs import ASK, Case
from pages.shared.answer import explained_number
from pages.shared.charts import table_markdown
from pages.shared.job import run_job
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

MOST_MEASURED: Final = 10_000.0  # GB
MOST_KEPT: Final = 32


@dataclass
class Shared:
    """Finished reports, the latest last, and where each running simulation stands."""

    reports: OrderedDict[str, StepReport] = field(default_factory=OrderedDict)
    places: dict[str, tuple[str, str]] = field(default_factory=dict)


@st.cache_resource(show_spinner=False)
def shared() -> Shared:
    """Return this server's simulations."""
    return Shared()


def timeline(case: Case) -> Shown:
    """Show one training step on one device: simulated if it was, else its moments.

    Args:
        case: The setting of the page; its layout over several devices plays no part here.
    """
    scenario = case.scenario
    expected = on_one_device(scenario)
    report = kept_report(scenario)
    progress = st.container()
    if report is None:
        moments = [(_(name), parts) for name, parts in expected.moments]
        picture = moments_picture(moments, expected.capacity, look())
    else:
        picture = step_picture(report, expected.capacity, look())
    return Shown(
        headline=_expectation(scenario, expected) if report is None else _verdict(report, expected),
        beside_headline=partial(_offer_simulation, scenario, expected, report, progress),
        charts=[
            Chart(picture=picture, file_name="step-moments" if report is None else "training-step")
        ],
        notes=_notes(scenario),
        below=None if report is None else partial(_show_holders, report),
    )


def kept_report(case: Scenario) -> StepReport | None:
    """Return the simulation of this very step, if it was run here; never waits."""
    return shared().reports.get(write_case(case.spec, case.recipe))


def _expectation(scenario: Scenario, expected: OneDevice) -> str:
    words = {
        "peak": look().format_bytes(expected.peak.amount),
        "moment": _(expected.largest),
    }
    if not scenario.spec.is_plain:
        return _(
            "Estimate: peak {peak} at “{moment}”; its kinds of layers cannot be simulated here"
        ).format(**words)
    return _("Closed form: peak {peak} at “{moment}”; simulate the step to prove it").format(
        **words
    )


def _verdict(report: StepReport, expected: OneDevice) -> str:
    return _("Simulated peak {peak} at `{op}`, closed form {expected}: {error} apart").format(
        peak=look().format_bytes(report.peak),
        op=op_name(report.peak_point.op),
        expected=look().format_bytes(expected.peak.amount),
        error=f"{abs(expected.peak.amount / report.peak - 1):.2%}",
    )


def _offer_simulation(
    case: Scenario, expected: OneDevice, report: StepReport | None, progress: DeltaGenerator
) -> None:
    """Show the button that simulates the step, and the reader's own measurement.

    Args:
        case: What is simulated.
        expected: The closed form.
        report: What was simulated already.
        progress: Where to tell how far it is.
    """
    pushed = st.button(
        _("Simulate this step") if report is None else _("Simulate it again"),
        key=ASK.key("simulate"),
        icon=":material/play_circle:",
        type="primary" if report is None else "secondary",
        disabled=not case.spec.is_plain,
    )
    with st.popover(_("Your own measurement"), icon=":material/straighten:", width="content"):
        _calibrate(expected)
    if pushed:
        with progress:
            name = write_case(case.spec, case.recipe)
            if run_job(
                name,
                partial(keep_simulation, name, case),
                doing=_("Simulating, in a separate process …"),
                failed=_("The simulation did not run"),
                tell=partial(_tell, name),
            ):
                st.rerun()


def _calibrate(expected: OneDevice) -> None:
    """Let the reader's own measurement correct the estimate, and say that it does."""
    measured = ASK.number(
        "measured",
        _("Peak that you measured, in {unit}").format(unit=look().unit),
        0.0,
        MOST_MEASURED,
        default=0.0,
        step=0.1,
        help=_("torch.cuda.max_memory_allocated() after a step of this very setting; 0 is none"),
    )
    if not measured:
        return
    try:
        corrected = calibrate(expected.peak, measured * (GIB if look().unit == "GiB" else 1e9))
    except ValueError as problem:
        st.error(str(problem))
        return
    explained_number(_("peak, corrected by your measurement"), corrected)
    st.caption(
        _("The closed form says {expected}; you measured {ratio} of it.").format(
            expected=look().format_bytes(expected.peak.amount),
            ratio=format_percent(corrected.amount / expected.peak.amount),
        )
    )


def keep_simulation(name: str, case: Scenario) -> None:
    """Run in a thread of the pool, tell every session where it is, and keep the report."""
    kept = shared()

    def note(phase: str, module: str) -> None:
        kept.places[name] = (phase, module)

    try:
        report = run_simulation(case.spec, case.recipe, note)
    finally:
        kept.places.pop(name, None)
    kept.reports[name] = report
    while len(kept.reports) > MOST_KEPT:
        kept.reports.popitem(last=False)


def _tell(name: str, place: DeltaGenerator) -> None:
    if name in shared().places:
        phase, module = shared().places[name]
        place.write(f"{_(PHASE_WORDS[phase])} · `{module or '…'}`")
    else:
        place.write(_("torch is loading …"))


def _show_holders(report: StepReport) -> None:
    """Show who holds the memory at the peak."""
    title = _("Who holds the memory at the peak: {count} operations simulated in {seconds}")
    with st.expander(
        title.format(count=f"{report.num_events:,}", seconds=format_seconds(report.seconds)),
        key=ASK.key("holders"),
        icon=":material/pie_chart:",
    ):
        rows = report.holdings
        table: Table = {
            _("bytes"): [look().format_bytes(row.num_bytes) for row in rows],
            _("tensors"): [row.times for row in rows],
            _("kind"): [_(row.kind) for row in rows],
            _("made by"): [op_name(row.op) for row in rows],
            _("in module"): [row.module or "–" for row in rows],
            _("kept for"): [row.saver or "–" for row in rows],
        }
        st.markdown(table_markdown(table))


def _notes(case: Scenario) -> list[str]:
    """Return why the tab "Device" says another number, and what plays no part here."""
    device = training_budget(case.spec, case.recipe, case.cluster).largest
    beside = beside_the_device(case, device)
    if case.cluster.num_devices == 1:
        return [beside]
    note = _("The simulation trains the whole model on one device, without the layout over {n}.")
    return [note.format(n=case.cluster.num_devices), beside]


def beside_the_device(case: Scenario, device: Item) -> str:
    """Return why the tab "Device" says another number: it counts what is kept beyond tensors."""
    if case.cluster.num_devices == 1:
        text = _(
            "Here tensors alone are counted, as operations ask for them. The tab “Device” says "
            "{device}: the allocator reserves {rest} beyond them."
        )
    else:
        text = _(
            "Here tensors alone are counted, as operations ask for them. The tab “Device” says "
            "{device} for the fullest of {n}: it holds its share of the model, and {rest} of it "
            "are the allocator's reserve and communication buffers."
        )
    return text.format(
        device=look().format_bytes(device.amount),
        rest=look().format_bytes(device.amount - allocated(device)),
        n=case.cluster.num_devices,
    )
