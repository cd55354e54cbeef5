"""A training step in time: simulated, operation by operation, or the moments of a closed form."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final

from core.budget.item import Item
from core.budget.simulation.timeline import Point, StepReport
from core.figures.budget.stacked_parts import capacity_line, flat_bars, parts_table, totals
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _

HEIGHT_PX: Final = 310
_MOMENTS_HEIGHT_PX: Final = {False: 310, True: 250}  # below a projector's headline of three lines
_ROOM: Final = 1.2  # of the highest thing: its name stands above it
_MOMENTS_ROOM: Final = 1.12  # of the longest bar: its total stands beside it
_ABOVE: Final = 1.1  # the legend: the names of the phases stand between it and the areas
_MOMENTS_ABOVE: Final = 1.7  # lines of text: the capacity's name stands between legend and bars
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
    """Return a stacked bar for each moment that can be the peak, against the device's capacity.

    Args:
        moments: Forward end, backward start and end, optimizer step, by the closed form.
        capacity: Bytes of the device.
        look: How the reader wants to see.
    """
    drawing = Drawing()
    sums = totals(moments)
    top: float = max(sums)
    if capacity <= 2 * top:
        top = max(top, capacity)
        text = _("capacity {capacity}").format(capacity=look.format_bytes(capacity))
        capacity_line(drawing, capacity, text, look, flat=True, longest=top)
    layout = flat_bars(drawing, moments, look, reach=_MOMENTS_ROOM * top)
    size, height = layout["font"]["size"], _MOMENTS_HEIGHT_PX[look.present]
    margin = {"l": 8, "r": 24, "t": round(3.8 * size), "b": 8}
    above = 1 + _MOMENTS_ABOVE * size / (height - margin["t"] - margin["b"])
    frame = {"legend": layout["legend"] | {"y": above}, "height": height, "margin": margin}
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


def step_picture(report: StepReport, capacity: float, look: Look) -> Picture:
    """Return stacked areas over the operations, the peak and the device's capacity marked.

    Args:
        report: The simulated step.
        capacity: Bytes of the device.
        look: How the reader wants to see.
    """
    drawing, layout = Drawing(), look.layout()
    points, layers = report.points, _layers(report)
    end = points[-1].place * _PAST_THE_END + 1  # the last operation gets a width
    for (name, meaning, pattern), amounts in zip(_LOOKS, layers, strict=True):
        shown = [*amounts, amounts[-1]]
        color = look.color(meaning)
        drawing.scatter(
            x=[*(point.place for point in points), end],
            y=[look.in_unit(amount) for amount in shown],
            stackgroup="memory",
            mode="lines",
            name=_(name),
            line={"color": color, "width": 0.5, "shape": "hv"},
            fillpattern={"shape": pattern, "fgcolor": color, "fillmode": "overlay", "size": 6},
            customdata=[look.format_bytes(amount) for amount in shown],
            hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
        )
    top = max(report.peak, min(capacity, 1.3 * report.peak))
    draw_phases(drawing, points, look)
    _draw_peak(drawing, report, look)
    if capacity <= top:
        _draw_capacity(drawing, capacity, look)
    plain = {"zeroline": False, "fixedrange": True}
    across = {"title": {"text": _("operations, in order")}, "range": [0, end], "showgrid": False}
    up = {"title": {"text": look.unit, "standoff": 8}, "range": [0, _ROOM * look.in_unit(top)]}
    frame = {
        "hovermode": "x",
        "xaxis": layout["xaxis"] | plain | across | {"tickformat": ",d"},
        "yaxis": layout["yaxis"] | plain | up,
        "legend": layout["legend"] | {"y": _ABOVE, "traceorder": "reversed"},
        "height": HEIGHT_PX,
        "margin": {"l": 8, "r": 24, "t": 58, "b": 8},
    }
    figure = drawing.figure(layout | frame)
    return Picture(figure=figure, alt=_sentence(report, look), table=_table(report, layers, look))


def _layers(report: StepReport) -> tuple[Sequence[int], ...]:
    """Return the bytes of each area at each point, in the order of _LOOKS."""
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
    """Name the highest moment, with an arrow to it."""
    point = report.peak_point
    is_right = point.place > report.points[-1].place / 2
    drawing.note(
        x=point.place,
        y=look.in_unit(report.peak),
        text=f"{look.format_bytes(report.peak)} · {op_name(point.op)}",
        showarrow=True,
        arrowcolor=look.color("text"),
        ax=-70 if is_right else 70,
        ay=-16,
        xanchor="right" if is_right else "left",
        bgcolor=look.color("background"),
    )


def _draw_capacity(drawing: Drawing, capacity: float, look: Look) -> None:
    """Draw a line where the device is full."""
    height, color = look.in_unit(capacity), look.color("refused")
    line = {"color": color, "width": 3}
    drawing.shape(type="line", line=line, xref="paper", x0=0, x1=1, y0=height, y1=height)
    drawing.note(
        xref="paper",
        x=0.01,
        y=height,
        text=_("capacity {capacity}").format(capacity=look.format_bytes(capacity)),
        xanchor="left",
        yanchor="bottom",
        font={"color": color},
        bgcolor=look.color("background"),
    )


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
    """Return one row for each point of the picture."""
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
