"""The step timeline: the closed form's moments, and the simulated step that proves them."""

from typing import Final

import streamlit as st

from core.budget.comparison.one_device import OneDevice, calibrate, on_one_device
from core.budget.simulation.timeline import StepReport
from core.budget.training.scenario import Scenario
from core.figures.budget.training_memory.step_marks import op_name
from core.figures.budget.training_memory.step_moments import (
    moments_alt,
    moments_figure,
    moments_table,
)
from core.figures.budget.training_memory.step_timeline import (
    step_alt,
    step_figure,
    step_table,
)
from core.figures.picture import Table
from core.language import _
from core.units import GIB, format_bytes, format_percent, format_seconds
from pages.budget.training_memory.pins import PAGE
from pages.budget.training_memory.simulations import kept_report, simulate
from pages.shared import pickers
from pages.shared.charts import show_chart, table_markdown
from pages.shared.header import headline
from pages.shared.numbers import explained_number
from pages.shared.settings import presenting, theme_mode, unit_system

MOST_MEASURED: Final = 10_000.0  # GB


def show_timeline(case: Scenario) -> None:
    """Show one training step on one device: simulated if it was, else its moments.

    Args:
        case: The setting of the page; its layout over several devices plays no part here.
    """
    try:
        expected = on_one_device(case)
    except ValueError as problem:
        headline(_("This setting cannot be trained."))
        st.error(str(problem))
        return
    report = kept_report(case)
    with st.container(key=f"{PAGE}_simulation", horizontal=True, vertical_alignment="center"):
        headline(_expectation(expected) if report is None else _verdict(report, expected))
        pushed = st.button(
            _("Simulate this step") if report is None else _("Simulate it again"),
            key=f"{PAGE}_simulate",
            icon=":material/play_circle:",
            type="primary" if report is None else "secondary",
        )
        _calibration(expected)
    if pushed:
        simulate(case)
    if report is None:
        _show_moments(expected)
    else:
        _show_step(report, expected)
        _show_holders(report)
    _note_layout(case)


def _expectation(expected: OneDevice) -> str:
    return _("Closed form: peak {peak} at “{moment}”; simulate the step to prove it").format(
        peak=format_bytes(expected.peak.amount, unit_system()), moment=_(expected.largest)
    )


def _verdict(report: StepReport, expected: OneDevice) -> str:
    unit = unit_system()
    return _("Simulated peak {peak} at `{op}`, closed form {expected}: {error} apart").format(
        peak=format_bytes(report.peak, unit),
        op=op_name(report.peak_point.op),
        expected=format_bytes(expected.peak.amount, unit),
        error=f"{abs(expected.peak.amount / report.peak - 1):.2%}",
    )


def _show_moments(expected: OneDevice) -> None:
    unit = unit_system()
    moments = [(_(name), parts) for name, parts in expected.moments]
    show_chart(
        moments_figure(moments, expected.capacity, unit, theme_mode(), present=presenting()),
        key=f"{PAGE}_moments",
        alt=moments_alt(moments, unit),
        table=moments_table(moments, unit),
        file_name="step-moments",
    )


def _show_step(report: StepReport, expected: OneDevice) -> None:
    unit = unit_system()
    show_chart(
        step_figure(report, expected.capacity, unit, theme_mode(), present=presenting()),
        key=f"{PAGE}_timeline",
        alt=step_alt(report, unit),
        table=step_table(report, unit),
        file_name="training-step",
    )


def _show_holders(report: StepReport) -> None:
    """Show who holds the memory at the peak."""
    unit = unit_system()
    title = _("Who holds the memory at the peak: {count} operations simulated in {seconds}")
    with st.expander(
        title.format(count=f"{report.num_events:,}", seconds=format_seconds(report.seconds)),
        key=f"{PAGE}_holders",
        icon=":material/pie_chart:",
    ):
        rows = report.holdings
        table: Table = {
            _("bytes"): [format_bytes(row.num_bytes, unit) for row in rows],
            _("tensors"): [row.times for row in rows],
            _("kind"): [_(row.kind) for row in rows],
            _("made by"): [op_name(row.op) for row in rows],
            _("in module"): [row.module or "–" for row in rows],
            _("kept for"): [row.saver or "–" for row in rows],
        }
        st.markdown(table_markdown(table))


def _calibration(expected: OneDevice) -> None:
    """Let the reader's own measurement correct the estimate, and say that it does."""
    with st.popover(_("Your own measurement"), icon=":material/straighten:", width="content"):
        measured = pickers.number(
            PAGE,
            "measured",
            _("Peak that you measured, in {unit}").format(unit=unit_system()),
            0.0,
            MOST_MEASURED,
            default=0.0,
            step=0.1,
            help=_(
                "torch.cuda.max_memory_allocated() after a step of this very setting; 0 is none"
            ),
        )
        if not measured:
            return
        unit = GIB if unit_system() == "GiB" else 1e9
        try:
            corrected = calibrate(expected.peak, measured * unit)
        except ValueError as problem:
            st.error(str(problem))
            return
        explained_number(_("peak, corrected by your measurement"), corrected)
        st.caption(
            _("The closed form says {expected}; you measured {ratio} of it.").format(
                expected=format_bytes(expected.peak.amount, unit_system()),
                ratio=format_percent(corrected.amount / expected.peak.amount),
            )
        )


def _note_layout(case: Scenario) -> None:
    if case.cluster.num_devices > 1:
        st.caption(
            _("The simulation trains the whole model on one device, without the layout over {n}.")
            .format(n=case.cluster.num_devices)
        )  # fmt: skip
