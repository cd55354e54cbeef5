"""What it costs to read a tensor: cache lines as they are counted, and sums as they were timed."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.tensors.access import AccessCost, StridedSum, WarpAccess
from core.units import format_exact, format_seconds

HEIGHT_PX: Final = 330
ROOM_ABOVE: Final = 2.6  # for the legend, in lines
_STILL: Final = {"fixedrange": True, "zeroline": False}


def lines_picture(rows: Mapping[str, tuple[AccessCost, WarpAccess]], look: Look) -> Picture:
    """Return two bars a tensor: the cache lines that hold it, and the changes of line on the way.

    Args:
        rows: Label of a tensor -> how a CPU and a GPU read it.
        look: How the reader wants to see.
    """
    layout, drawing = look.layout(), Drawing()
    touched, changes = _("lines that hold an element"), _("changes of line, read in order")
    counts = {
        touched: [cpu.lines_touched for cpu, _gpu in rows.values()],
        changes: [cpu.line_changes for cpu, _gpu in rows.values()],
    }
    for (label, numbers), fill in zip(counts.items(), ("surface", "accent"), strict=True):
        drawing.bar(
            orientation="h", name=label, x=numbers, y=[f"<b>{name}</b> " for name in rows],
            text=[f" {format_exact(number)}" for number in numbers], textposition="outside",
            cliponaxis=False, hovertemplate="%{text}<extra></extra>",
            marker={"color": look.color(fill), "line": {"color": look.color("accent"), "width": 2}},
        )  # fmt: skip
    most = max(max(numbers) for numbers in counts.values())
    fields = {
        "xaxis": layout["xaxis"] | _STILL
        | {"showticklabels": False, "showgrid": False, "range": [0, max(most, 1) * 1.15]},
        "yaxis": layout["yaxis"] | _STILL | {"autorange": "reversed", "showgrid": False},
    }  # fmt: skip
    return Picture(
        figure=drawing.figure(layout | fields | _frame(layout)),
        alt=_lines_sentence(rows),
        table={
            _("tensor"): list(rows),
            _("elements"): [cpu.num_elements for cpu, _gpu in rows.values()],
            **counts,
            _("GPU: sectors of 32 bytes"): [sum(gpu.sectors) for _cpu, gpu in rows.values()],
            _("GPU: sectors at best"): [sum(gpu.ideal) for _cpu, gpu in rows.values()],
        },
    )


def sums_picture(sums: Sequence[StridedSum], look: Look) -> Picture:
    """Return the time of `buf[::s].sum()` for each s, with the shortest and the longest call."""
    layout, drawing = look.layout(), Drawing()
    medians = [each.median * 1e3 for each in sums]
    above = [(each.spread[1] - each.median) * 1e3 for each in sums]
    below = [(each.median - each.spread[0]) * 1e3 for each in sums]
    drawing.scatter(
        x=[each.stride for each in sums], y=medians, mode="lines+markers", showlegend=False,
        error_y={"type": "data", "symmetric": False, "array": above, "arrayminus": below,
                 "color": look.color("muted")},
        line={"color": look.color("accent"), "width": 2}, marker={"size": 9},
        customdata=[format_exact(each.num_elements) for each in sums],
        hovertemplate=_("stride %{x}: %{y:.3g} ms for %{customdata} elements") + "<extra></extra>",
    )  # fmt: skip
    fields = {
        "xaxis": layout["xaxis"] | _STILL
        | {"type": "log", "dtick": 0.30103, "title": {"text": _("stride s in elements of 4 bytes")},
           "tickvals": [each.stride for each in sums]},
        "yaxis": layout["yaxis"] | _STILL
        | {"rangemode": "tozero", "title": {"text": _("ms for buf[::s].sum()")}},
    }  # fmt: skip
    return Picture(
        figure=drawing.figure(layout | fields | _frame(layout)),
        alt=_sums_sentence(sums, look),
        table={
            _("stride"): [each.stride for each in sums],
            _("elements"): [each.num_elements for each in sums],
            _("cache lines"): [each.num_lines for each in sums],
            _("median"): [format_seconds(each.median) for each in sums],
            _("shortest"): [format_seconds(each.spread[0]) for each in sums],
            _("longest"): [format_seconds(each.spread[1]) for each in sums],
            _("for one element"): [format_seconds(each.seconds_per_element) for each in sums],
        },
    )


def _frame(layout: Mapping[str, Any]) -> dict[str, Any]:
    size = layout["font"]["size"]
    return {
        "height": HEIGHT_PX,
        "margin": {"l": 8, "r": 8, "t": ROOM_ABOVE * size, "b": 8},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
    }


def _lines_sentence(rows: Mapping[str, tuple[AccessCost, WarpAccess]]) -> str:
    said = _(
        "{name} has {count} elements on {lines} cache lines and changes the line {changes} times"
    )
    parts = [
        said.format(
            name=name,
            count=format_exact(cpu.num_elements),
            lines=format_exact(cpu.lines_touched),
            changes=format_exact(cpu.line_changes),
        )
        for name, (cpu, _gpu) in rows.items()
    ]
    return _("Read in the order of its indices: {parts}.").format(parts=_("; ").join(parts))


def _sums_sentence(sums: Sequence[StridedSum], look: Look) -> str:
    first, last = sums[0], sums[-1]
    return _(
        "Every s-th element of a buffer of {size} is summed. With s = {first} that takes {short} "
        "for {many} elements, with s = {last} {long} for {few}."
    ).format(
        size=look.format_bytes(first.num_bytes),
        first=first.stride,
        short=format_seconds(first.median),
        many=format_exact(first.num_elements),
        last=last.stride,
        long=format_seconds(last.median),
        few=format_exact(last.num_elements),
    )
