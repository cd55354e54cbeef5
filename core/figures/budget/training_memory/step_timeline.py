"""A training step over its operations: what lives between steps, what is born and dies in it."""

from collections.abc import Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from core.budget.simulation.timeline import Point, StepReport
from core.figures.budget.serving_memory_plot import in_unit
from core.figures.budget.training_memory.step_marks import (
    PHASE_WORDS,
    draw_capacity,
    draw_peak,
    draw_phases,
    op_name,
)
from core.figures.drawing import Drawing
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import N_, _
from core.units import ByteUnit, format_bytes

HEIGHT_PX: Final = 310
_ROOM: Final = 1.2  # of the highest thing: its name stands above it
_ABOVE: Final = 1.1  # the legend: the names of the phases stand between it and the areas
_PAST_THE_END: Final = 1.01
_LOOKS: Final = (
    (N_("weights"), "weights", ""),
    (N_("optimizer states"), "optimizer", ""),
    (N_("gradients"), "gradients", ""),
    (N_("saved activations"), "activations", ""),
    (N_("temporary"), "temporary", "."),
)


def step_figure(
    report: StepReport,
    capacity: float,
    unit: ByteUnit,
    mode: Mode,
    *,
    present: bool = False,
) -> go.Figure:
    """Return stacked areas over the operations, the peak and the device's capacity marked.

    Args:
        report: The simulated step.
        capacity: Bytes of the device.
        unit: "GiB" or "GB".
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    color = COLORS[mode]
    drawing = Drawing()
    for (name, token, pattern), amounts in zip(_LOOKS, _layers(report), strict=True):
        _draw_area(drawing, report.points, (name, color[token], pattern), amounts, unit)
    top = max(report.peak, min(capacity, 1.3 * report.peak))
    draw_phases(drawing, report.points, color)
    draw_peak(drawing, report, unit, color)
    if capacity <= top:
        draw_capacity(drawing, capacity, unit, color)
    layout = plotly_layout(mode, present=present)
    plain = {"zeroline": False, "fixedrange": True}
    reach = [0, _end(report.points)]
    across = {"title": {"text": _("operations, in order")}, "range": reach, "showgrid": False}
    up = {"title": {"text": unit, "standoff": 8}, "range": [0, _ROOM * in_unit(top, unit)]}
    return drawing.figure(
        layout
        | {
            "template": "none",
            "hovermode": "x",
            "xaxis": layout["xaxis"] | plain | across | {"tickformat": ",d"},
            "yaxis": layout["yaxis"] | plain | up,
            "legend": layout["legend"] | {"y": _ABOVE, "traceorder": "reversed"},
            "height": HEIGHT_PX,
            "margin": {"l": 8, "r": 24, "t": 58, "b": 8},
        }
    )


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


def _draw_area(
    drawing: Drawing,
    points: Sequence[Point],
    look: tuple[str, str, str],
    amounts: Sequence[int],
    unit: ByteUnit,
) -> None:
    name, color, pattern = look
    shown = [*amounts, amounts[-1]]  # the last operation gets a width
    drawing.scatter(
        x=[*(point.place for point in points), _end(points)],
        y=[in_unit(amount, unit) for amount in shown],
        stackgroup="memory",
        mode="lines",
        name=_(name),
        line={"color": color, "width": 0.5, "shape": "hv"},
        fillpattern={"shape": pattern, "fgcolor": color, "fillmode": "overlay", "size": 6},
        customdata=[format_bytes(amount, unit) for amount in shown],
        hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
    )


def _end(points: Sequence[Point]) -> float:
    return points[-1].place * _PAST_THE_END + 1


def step_alt(report: StepReport, unit: ByteUnit) -> str:
    """Return the picture in words."""
    point = report.peak_point
    return _(
        "Bytes over the {count} operations of one training step: {persistent} live between "
        "steps, the forward pass leaves {saved} more, and the peak of {peak} comes with {op} in "
        "the phase {phase}."
    ).format(
        count=f"{report.num_events:,}",
        persistent=format_bytes(report.persistent, unit),
        saved=format_bytes(report.forward_bytes, unit),
        peak=format_bytes(report.peak, unit),
        op=op_name(point.op),
        phase=_(PHASE_WORDS[point.phase]),
    )


def step_table(report: StepReport, unit: ByteUnit) -> Mapping[str, Sequence[object]]:
    """Return one row for each point of the picture."""
    points = report.points
    columns = {
        _(name): [format_bytes(amount, unit) for amount in amounts]
        for (name, *_look), amounts in zip(_LOOKS, _layers(report), strict=True)
    }
    sums = [sum(amounts) for amounts in zip(*_layers(report), strict=True)]
    return {
        _("operation"): [f"{point.place:,} {op_name(point.op)}" for point in points],
        _("module"): [point.module for point in points],
        _("phase"): [_(PHASE_WORDS[point.phase]) for point in points],
        **columns,
        _("total"): [format_bytes(amount, unit) for amount in sums],
    }
