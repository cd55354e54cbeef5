"""The zoom on a cast: two neighbours, the number truly between them, the bits that decide."""

from typing import Any, Final

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.cast.cast_trace import CastTrace
from core.dtypes.number_formats.format import Format
from core.figures.drawing import Drawing
from core.figures.dtypes.rounding_and_overflow.cast_bits import ROW_UNITS, add_bit_row, bit_row
from core.figures.dtypes.rounding_and_overflow.cast_marks import (
    Mark,
    code_text,
    number_x,
    place_words,
    zoom_marks,
)
from core.figures.dtypes.rounding_and_overflow.cast_words import digits, is_negative, precision
from core.figures.theme import (
    CHART_TEXT_PX,
    COLORS,
    PRESENT_CHART_TEXT_PX,
    Mode,
    plotly_layout,
)
from core.language import _

HEIGHT_PX: Final = 310
PRESENT_HEIGHT_PX: Final = 400
EDGE: Final = 0.2  # how far the picture reaches beyond the neighbours, which stand at 0 and 1
_CHIP: Final = 0.15
_CLOSE: Final = 0.06


def cast_zoom(
    fmt: Format, trace: CastTrace, said: str, mode: Mode = "light", *, present: bool = False
) -> go.Figure:
    """Draw a cast: number line between the neighbours above, kept and cut bits below.

    Args:
        fmt: The format.
        trace: What happened to the number.
        said: The number as the reader wrote it.
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    drawing, size = Drawing(), PRESENT_CHART_TEXT_PX if present else CHART_TEXT_PX
    if trace.lower is None:
        text = f"<b>{said} → {digits(trace.result)}</b>"
        paper = {"xref": "paper", "yref": "paper", "yanchor": "top"}
        drawing.note(x=0.5, y=0.95, text=text, font={"size": size + 10}, **paper)
    else:
        _add_line(drawing, fmt, trace, said, mode)
    if trace.kept or trace.lower is None:
        add_bit_row(drawing, bit_row(fmt, trace), mode, size)
    return drawing.figure(_layout(mode, present=present, has_line=trace.lower is not None))


def _layout(mode: Mode, *, present: bool, has_line: bool) -> dict[str, Any]:
    """Return two pairs of hidden axes: the number line above, the row of bits below."""
    hidden = {"visible": False, "fixedrange": True}
    half = ROW_UNITS / 2
    return {
        **plotly_layout(mode, present=present),
        "height": PRESENT_HEIGHT_PX if present else HEIGHT_PX,
        "showlegend": False,
        "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
        "xaxis": {**hidden, "range": [-EDGE, 1 + EDGE]},
        "yaxis": {**hidden, "range": [-1.05, 1.1], "domain": [0.33, 1.0]},
        "xaxis2": {**hidden, "range": [-half, half], "anchor": "y2"},
        "yaxis2": {
            **hidden,
            "range": [0, 1.5],
            "domain": [0.0, 0.3 if has_line else 0.6],
            "anchor": "x2",
        },
    }


def _add_line(drawing: Drawing, fmt: Format, trace: CastTrace, said: str, mode: Mode) -> None:
    colors = COLORS[mode]
    marks, at = zoom_marks(fmt, trace), number_x(trace)
    drawing.shape(
        type="line", x0=-EDGE, x1=1 + EDGE, y0=0, y1=0, line={"color": colors["muted"], "width": 2}
    )
    if len(marks) == 2 and marks[0].x == 0:
        _add_middle(drawing, marks, mode)
    for mark in marks:
        _add_mark(drawing, fmt, mark, at, mode)
    drawing.scatter(
        x=[at],
        y=[0],
        mode="markers",
        marker={"symbol": "diamond", "size": 15, "color": colors["text"]},
        hovertext=[said],
        hoverinfo="text",
        name="x",
    )
    _add_number(drawing, trace, said, at)
    _add_result(drawing, trace, marks, at, mode)


def _add_number(drawing: Drawing, trace: CastTrace, said: str, at: float) -> None:
    """Write the number high above its place, joined by a stem."""
    drawing.note(
        x=at, y=0.1, ax=at, ay=0.78, axref="x", ayref="y", showarrow=True, arrowhead=0,
        arrowwidth=1, yanchor="bottom", text=f"<b>{said}</b> · {place_words(trace)}",
        xanchor="left" if at < 0.1 else "right" if at > 0.9 else "center",
    )  # fmt: skip


def _add_middle(drawing: Drawing, marks: tuple[Mark, ...], mode: Mode) -> None:
    low, high = (mark.candidate.exact for mark in marks)
    middle = digits((low + high) / 2)
    color = COLORS[mode]["muted"]
    drawing.shape(
        type="line", x0=0.5, x1=0.5, y0=-0.35, y1=0.35,
        line={"color": color, "width": 2, "dash": "dot"},
    )  # fmt: skip
    drawing.note(
        x=0.5, y=-0.4, yanchor="top", font={"color": color},
        text=_("middle: {middle}").format(middle=middle),
    )  # fmt: skip


def _add_mark(drawing: Drawing, fmt: Format, mark: Mark, at: float, mode: Mode) -> None:
    colors = COLORS[mode]
    exists = mark.candidate.code is not None
    drawing.scatter(
        x=[mark.x],
        y=[0],
        mode="markers",
        marker={
            "symbol": "line-ns-open" if exists else "x-thin-open",
            "size": 34 if exists else 18,
            "color": colors[mark.color],
            "line": {"width": 5, "color": colors[mark.color]},
        },
        hovertext=[digits(mark.candidate.exact, 30)],
        hoverinfo="text",
        name=digits(mark.candidate.exact),
    )
    side = ("right", -26) if mark.x < at or mark.x == 0 else ("left", 26)
    anchor, shift = side if abs(mark.x - at) < _CLOSE else ("center", 0)  # beside the stem
    drawing.note(
        x=mark.x, y=0.3, yanchor="bottom", xanchor=anchor, xshift=shift,
        text=f"<b>{digits(mark.candidate.exact, precision(fmt))}</b>",
    )  # fmt: skip
    drawing.note(
        x=mark.x, y=-0.4, yanchor="top", align="center",
        text=code_text(fmt, mark.candidate, mode),
    )  # fmt: skip


def _add_result(
    drawing: Drawing, trace: CastTrace, marks: tuple[Mark, ...], at: float, mode: Mode
) -> None:
    """Draw the way from the number to what is stored, and a frame around that."""
    target = next((m.x for m in marks if m.candidate.exact == trace.exact_result), None)
    outside = target is None
    if target is None:
        is_low = trace.result < 0 or (trace.result != trace.result and is_negative(trace.value))
        target = -_CHIP if is_low else 1 + _CHIP
    color = COLORS[mode]["overflow" if outside else "exact"]
    if outside:
        drawing.note(
            x=target, y=0, text=f"<b>{digits(trace.result)}</b>",
            bgcolor=COLORS[mode]["surface"], bordercolor=color, borderwidth=3, borderpad=6,
        )  # fmt: skip
    else:
        drawing.scatter(
            x=[target], y=[0], mode="markers", hoverinfo="skip", name=_("stored"),
            marker={"symbol": "circle-open", "size": 40, "color": color, "line": {"width": 4}},
        )  # fmt: skip
    drawing.note(x=target, y=-0.95, text=f"▲ {_('stored')}", font={"color": color})
    if abs(target - at) > 0.03:
        step = 0.035 if target > at else -0.035
        drawing.note(
            x=target - step, y=0.16, ax=at, ay=0.16, xref="x", yref="y", axref="x", ayref="y",
            showarrow=True, arrowhead=2, arrowwidth=4, arrowcolor=color, text="",
        )  # fmt: skip
