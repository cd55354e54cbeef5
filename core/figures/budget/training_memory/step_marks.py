"""What stands above and across the areas of a step: the phases, the peak, the capacity."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final

from core.budget.simulation.timeline import Point, StepReport
from core.figures.budget.serving_memory_plot import in_unit
from core.figures.drawing import Drawing
from core.language import N_, _
from core.units import ByteUnit, format_bytes

_NARROW: Final = 0.05  # of the width: a phase below it gets no name
PHASE_WORDS: Final[Mapping[str, str]] = {
    "forward": N_("forward"),
    "backward": N_("backward"),
    "recompute": N_("backward"),  # the reruns lie inside it
    "optimizer step": N_("optimizer step"),
}


def draw_phases(drawing: Drawing, points: Sequence[Point], color: Mapping[str, str]) -> None:
    """Name the phases above the areas, with a line between two of them."""
    width = points[-1].place or 1
    for word, group in groupby(points, key=lambda point: PHASE_WORDS[point.phase]):
        members = list(group)
        start, end = members[0].place, members[-1].place
        line = {"color": color["muted"], "width": 1, "dash": "dot"}
        drawing.shape(type="line", line=line, x0=start, x1=start, yref="paper", y0=0, y1=1)
        if end - start >= _NARROW * width:
            drawing.note(x=(start + end) / 2, yref="paper", y=1, yanchor="bottom", text=_(word))


def draw_peak(
    drawing: Drawing, report: StepReport, unit: ByteUnit, color: Mapping[str, str]
) -> None:
    """Name the highest moment, with an arrow to it."""
    point = report.peak_point
    is_right = point.place > report.points[-1].place / 2
    drawing.note(
        x=point.place,
        y=in_unit(report.peak, unit),
        text=f"{format_bytes(report.peak, unit)} · {op_name(point.op)}",
        showarrow=True,
        arrowcolor=color["text"],
        ax=-70 if is_right else 70,
        ay=-16,
        xanchor="right" if is_right else "left",
        bgcolor=color["background"],
    )


def draw_capacity(
    drawing: Drawing, capacity: float, unit: ByteUnit, color: Mapping[str, str]
) -> None:
    """Draw a line where the device is full."""
    height = in_unit(capacity, unit)
    line = {"color": color["refused"], "width": 3}
    drawing.shape(type="line", line=line, xref="paper", x0=0, x1=1, y0=height, y1=height)
    drawing.note(
        xref="paper",
        x=0.01,
        y=height,
        text=_("capacity {capacity}").format(capacity=format_bytes(capacity, unit)),
        xanchor="left",
        yanchor="bottom",
        font={"color": color["refused"]},
        bgcolor=color["background"],
    )


def op_name(op: str) -> str:
    """Return an operation without its name space and leading marks.

    >>> op_name("aten._log_softmax_backward_data")
    'log_softmax_backward_data'
    """
    return op.rpartition(".")[2].lstrip("_")
