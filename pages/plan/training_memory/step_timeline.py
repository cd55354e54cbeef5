"""The step timeline: the closed form's moments, and the simulated step that proves them.

A simulation runs in one child process a case; this server keeps its report for every session.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.comparison.one_device import OneDevice, calibrate, on_one_device
from core.budget.item import Item
from core.budget.simulation.cases import run_simulation, write_case
from core.budget.simulation.timeline import Point, StepReport
from core.budget.training.memory import allocated, training_budget
from core.budget.training.scenario import Scenario
from core.figures.budget.frames import framed
from core.figures.budget.stacked_parts import (
    capacity_line,
    flat_bars,
    legend_below,
    parts_table,
    totals,
)
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.units import GIB, format_percent, format_seconds
from pages.plan.training_memory.inputs import ASK, Case
from pages.shared.answer import explained_number
from pages.shared.charts import table_markdown
from pages.shared.job import run_job
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

HEIGHT_PX: Final = 310
_MOMENTS_HEIGHT_PX: Final = {False: 310, True: 400}
_ROOM: Final = 1.2  # of the highest thing: its name stands above it
_MOMENTS_ROOM: Final = 1.12  # of the longest bar: its total stands beside it
_ABOVE: Final = 1.1  # the legend: the names of the phases stand between it and the areas
_PAST_THE_END: Final = 1.01
_NARROW: Final = 0.05  # of the width: a phase below it gets no name
PHASE_WORDS: Final[Mapping[str, str]] = {
    "forward": N_("forward"),
    "backward": N_("backward"),
    "recompute": N_("backward"),  # the reruns lie inside it
    "optimizer step": N_("optimizer step"),
}
_LOOKS: Final = (
    (N_("weights"), "weights", ""),
    (N_("optimizer states"), "optimizer", ""),
    (N_("gradients"), "gradients", ""),
    (N_("saved activations"), "activations", ""),
    (N_("temporary"), "temporary", "."),
)
Moments = Sequence[tuple[str, Sequence[Item]]]
"""A translated name of each moment, and what the device holds then."""


def moments_picture(moments: Moments, capacity: float, look: Look) -> Picture:
    """Return a stacked bar for each moment that can be the peak, against the device's capacity."""
    drawing = Drawing()
    if look.present:  # the long name would leave the legend one column, and the bars no room
        moments = [(label, [_with_short_name(part) for part in parts]) for label, parts in moments]
    sums = totals(moments)
    top: float = max(sums)
    if capacity <= 2 * top:
        top = max(top, capacity)
        text = _("capacity {capacity}").format(capacity=look.format_bytes(capacity))
        capacity_line(drawing, capacity, text, look, flat=True, longest=top)
    layout = flat_bars(drawing, moments, look, reach=_MOMENTS_ROOM * top)
    frame = {
        "legend": legend_below(look) | {"xref": "container", "maxheight": 0.8},
        "height": _MOMENTS_HEIGHT_PX[look.present],
        "margin": {"l": 8, "r": 48, "t": 2 * layout["font"]["size"], "b": 8},
    }
    words = [
        f"{label} {look.format_bytes(amount)}"
        for (label, _parts), amount in zip(moments, sums, strict=True)
    ]
    alt = _("What the device holds at the moments of one step, by the closed form: {list}.")
    return Picture(
        figure=drawing.figure(layout | frame),
        alt=alt.format(list=_("; ").join(words)),
        table=parts_table(moments, look, _("moment")),
    )


def _with_short_name(part: Item) -> Item:
    is_long = part.name == "recomputed activations"
    return replace(part, name="activations") if is_long else part


def step_picture(report: StepReport, capacity: float, look: Look) -> Picture:
    """Return stacked areas over the operations, the peak and the device's capacity marked."""
    drawing = Drawing()
    points, layers = report.points, _layers(report)
    end = points[-1].place * _PAST_THE_END + 1  # the last operation gets a width
    for (name, meaning, pattern), amounts in zip(_LOOKS, layers, strict=True):
        shown = [*amounts, amounts[-1]]
        color = look.color(meaning)
        drawing.scatter(
            x=[*(point.place for point in points), end],
            y=[look.in_unit(amount) for amount in shown], stackgroup="memory", mode="lines",
            name=_(name), line={"color": color, "width": 0.5, "shape": "hv"},
            fillpattern={"shape": pattern, "fgcolor": color, "fillmode": "overlay", "size": 6},
            customdata=[look.format_bytes(amount) for amount in shown],
            hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
        )  # fmt: skip
    top = max(report.peak, min(capacity, 1.3 * report.peak))
    draw_phases(drawing, points, look)
    _draw_peak(drawing, report, look)
    if capacity <= top:
        _draw_capacity(drawing, capacity, look)
    across = {"title": _("operations, in order"), "showgrid": False, "tickformat": ",d"}
    figure = framed(
        drawing,
        look,
        x=across | {"range": [0, end]},
        y={"title": look.unit, "title_standoff": 8, "range": [0, _ROOM * look.in_unit(top)]},
        hovermode="x",
        legend=look.layout()["legend"] | {"y": _ABOVE, "traceorder": "reversed"},
        height=HEIGHT_PX,
        margin={"l": 8, "r": 24, "t": 58, "b": 8},
    )
    return Picture(figure=figure, alt=_sentence(report, look), table=_table(report, layers, look))


def _layers(report: StepReport) -> tuple[Sequence[int], ...]:
    base, points = report.base, report.points
    sums = base.get("gradient sums", 0)
    states = base.get("optimizer states", 0)
    rest = report.persistent - sums - states  # weights, master weights, token ids
    return (
        [rest] * len(points),
        [states] * len(points),
        [sums + point.gradients for point in points],
        [point.saved for point in points],
        [point.temporary for point in points],
    )


def draw_phases(drawing: Drawing, points: Sequence[Point], look: Look) -> None:
    """Name the phases above the areas, with a line between two of them."""
    width = points[-1].place or 1
    for word, group in groupby(points, key=lambda point: PHASE_WORDS[point.phase]):
        members = list(group)
        start, end = members[0].place, members[-1].place
        line = {"color": look.color("muted"), "width": 1, "dash": "dot"}
        drawing.shape(type="line", line=line, x0=start, x1=start, yref="paper", y0=0, y1=1)
        if end - start >= _NARROW * width:
            drawing.note(x=(start + end) / 2, yref="paper", y=1, yanchor="bottom", text=_(word))


def _draw_peak(drawing: Drawing, report: StepReport, look: Look) -> None:
    point = report.peak_point
    is_right = point.place > report.points[-1].place / 2
    drawing.note(
        x=point.place, y=look.in_unit(report.peak),
        text=f"{look.format_bytes(report.peak)} · {op_name(point.op)}", showarrow=True,
        arrowcolor=look.color("text"), ax=-70 if is_right else 70, ay=-16,
        xanchor="right" if is_right else "left", bgcolor=look.color("background"),
    )  # fmt: skip


def _draw_capacity(drawing: Drawing, capacity: float, look: Look) -> None:
    height, color = look.in_unit(capacity), look.color("refused")
    line = {"color": color, "width": 3}
    drawing.shape(type="line", line=line, xref="paper", x0=0, x1=1, y0=height, y1=height)
    drawing.note(
        xref="paper", x=0.01, y=height,
        text=_("capacity {capacity}").format(capacity=look.format_bytes(capacity)), xanchor="left",
        yanchor="bottom", font={"color": color}, bgcolor=look.color("background"),
    )  # fmt: skip


def op_name(op: str) -> str:
    """Return an operation without its name space and leading marks.

    >>> op_name("aten._log_softmax_backward_data")
    'log_softmax_backward_data'
    """
    return op.rpartition(".")[2].lstrip("_")


def _sentence(report: StepReport, look: Look) -> str:
    point = report.peak_point
    return _(
        "Bytes over the {count} operations of one training step: {persistent} live between "
        "steps, the forward pass leaves {saved} more, and the peak of {peak} comes with {op} in "
        "the phase {phase}."
    ).format(
        count=f"{report.num_events:,}",
        persistent=look.format_bytes(report.persistent),
        saved=look.format_bytes(report.forward_bytes),
        peak=look.format_bytes(report.peak),
        op=op_name(point.op),
        phase=_(PHASE_WORDS[point.phase]),
    )


def _table(report: StepReport, layers: Sequence[Sequence[int]], look: Look) -> Table:
    columns = {
        _(name): [look.format_bytes(amount) for amount in amounts]
        for (name, *_look), amounts in zip(_LOOKS, layers, strict=True)
    }
    return {
        _("operation"): [f"{each.place:,} {op_name(each.op)}" for each in report.points],
        _("module"): [each.module for each in report.points],
        _("phase"): [_(PHASE_WORDS[each.phase]) for each in report.points],
        **columns,
        _("total"): [look.format_bytes(sum(amounts)) for amounts in zip(*layers, strict=True)],
    }


MOST_MEASURED: Final = 10_000.0  # GB
MOST_KEPT: Final = 32


@dataclass
class Shared:
    """Finished reports, the latest last, and where each running simulation stands."""

    reports: OrderedDict[str, StepReport] = field(default_factory=OrderedDict)
    places: dict[str, tuple[str, str]] = field(default_factory=dict)


@st.cache_resource(show_spinner=False)
def shared() -> Shared:
    return Shared()


def timeline(case: Case) -> Shown:
    """Show one training step on one device: simulated if it was, else its moments."""
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
    words = {"peak": look().format_bytes(expected.peak.amount), "moment": _(expected.largest)}
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
