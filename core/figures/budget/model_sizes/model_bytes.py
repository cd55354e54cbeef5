"""One model in several formats: a bar each, against the memories of devices."""

from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from core.figures.budget.model_sizes.weight_words import PART_NAMES, Line, Rows, part_bytes, verdict
from core.figures.drawing import Drawing
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _
from core.units import ByteUnit, format_bytes

_LOOKS: Final = {
    "codes": ("weights", ""),
    "scales": ("gradients", "/"),
    "the rest": ("kv_cache", "\\"),
}
_ROW_HEIGHT: Final = {False: 2.5, True: 2.1}  # of the text's size; on a projector True
_ROOM: Final = {False: 1.3, True: 1.5}  # of the longest bar: its number and verdict stand beside
_FARTHEST: Final = 3.0  # times the longest bar: a line beyond is told in words
_GAP: Final = 0.13  # of the width: labels of lines nearer to each other would run together


def bars_figure(
    rows: Rows,
    chosen: Line,
    landmarks: Sequence[Line],
    unit: ByteUnit,
    mode: Mode,
    *,
    present: bool = False,
) -> go.Figure:
    """Return one bar a format, its size and verdict beside it, and a line for each memory.

    Args:
        rows: Formats, wide to narrow.
        chosen: The memory that the verdicts speak of; its line is drawn bold.
        landmarks: Others, the most welcome first; those that would run together are left out.
        unit: GiB or GB.
        mode: "light" or "dark".
        present: For a projector.
    """
    layout = plotly_layout(mode, present=present)
    drawing = Drawing()
    end = axis_end(rows, chosen, present=present)
    _draw_bars(drawing, rows, unit, mode)
    _draw_verdicts(drawing, rows, chosen, unit, mode)
    for line in seen_lines(chosen, landmarks, end):
        _draw_line(drawing, line, unit, mode, bold=line is chosen)
    if chosen.num_bytes > end:
        _point_beyond(drawing, chosen, unit, mode)
    size = layout["font"]["size"]
    axes = {
        "xaxis": {"visible": False, "range": [0, end], "fixedrange": True},
        "yaxis": layout["yaxis"] | {"autorange": "reversed", "showgrid": False, "fixedrange": True},
        "height": round((len(rows) * _ROW_HEIGHT[present] + 5.4) * size),
        "legend": layout["legend"] | {"y": 0, "yanchor": "top", "traceorder": "normal"},
        "margin": {"l": 8, "r": 8, "t": round(2.9 * size), "b": round(2.4 * size)},
    }
    return drawing.figure(layout | axes | {"template": "none", "barmode": "stack", "bargap": 0.3})


def axis_end(rows: Rows, chosen: Line, *, present: bool = False) -> float:
    """Return the bytes at the right edge: room for every number, and for a memory not far off."""
    longest = max(item.amount for _name, item in rows)
    near = chosen.num_bytes <= _FARTHEST * longest
    return max(_ROOM[present] * longest, 1.12 * chosen.num_bytes if near else 0)


def seen_lines(chosen: Line, landmarks: Sequence[Line], end: float) -> tuple[Line, ...]:
    """Return the lines that have room: the chosen one first, then the others in their order."""
    kept: list[Line] = []
    for line in (chosen, *landmarks):
        inside = 0.04 * end < line.num_bytes <= 0.96 * end
        clear = all(abs(line.num_bytes - other.num_bytes) >= _GAP * end for other in kept)
        if inside and clear:
            kept.append(line)
    return tuple(kept)


def _draw_bars(drawing: Drawing, rows: Rows, unit: ByteUnit, mode: Mode) -> None:
    names = [name for name, _item in rows]
    for part, (token, pattern) in _LOOKS.items():
        sizes = [part_bytes(item, part) for _name, item in rows]
        if not any(sizes):
            continue
        drawing.bar(
            orientation="h",
            y=names,
            x=sizes,
            name=_(PART_NAMES[part]),
            marker={"color": COLORS[mode][token], "pattern": {"shape": pattern}},
            customdata=[format_bytes(size, unit) for size in sizes],
            hovertemplate="%{y}: %{customdata}<extra>%{fullData.name}</extra>",
            showlegend=True,
        )


def _draw_verdicts(drawing: Drawing, rows: Rows, chosen: Line, unit: ByteUnit, mode: Mode) -> None:
    color = COLORS[mode]
    for name, item in rows:
        words = f"<b>{format_bytes(item.amount, unit)}</b>  {verdict(item.amount, chosen)}"
        drawing.note(
            x=item.amount,
            y=name,
            text=f" {words} ",
            xanchor="left",
            bgcolor=color["background"],
            font={"color": color["text"]},
            borderpad=1,
        )


def _draw_line(drawing: Drawing, line: Line, unit: ByteUnit, mode: Mode, *, bold: bool) -> None:
    color = COLORS[mode]["accent" if bold else "muted"]
    drawing.shape(
        type="line",
        layer="below" if not bold else "between",
        x0=line.num_bytes,
        x1=line.num_bytes,
        yref="paper",
        y0=0,
        y1=1,
        line={"color": color, "width": 3 if bold else 1.5, "dash": "solid" if bold else "dot"},
    )
    name = f"<b>{line.name}</b>" if bold else line.name
    drawing.note(
        x=line.num_bytes,
        yref="paper",
        y=1,
        yanchor="bottom",
        text=f"{name}<br>{format_bytes(line.num_bytes, unit)}",
        font={"color": color},
    )


def _point_beyond(drawing: Drawing, chosen: Line, unit: ByteUnit, mode: Mode) -> None:
    """Say that the chosen memory lies far to the right."""
    drawing.note(
        xref="paper",
        x=1,
        yref="paper",
        y=1,
        xanchor="right",
        yanchor="bottom",
        text=f"<b>{chosen.name}</b>: {format_bytes(chosen.num_bytes, unit)} →",
        font={"color": COLORS[mode]["accent"]},
    )
