"""The number line: every number of up to four formats as a mark, with what happens in between."""

from collections.abc import Sequence
from typing import Any, Final

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.cast.cast_trace import CastTrace
from core.dtypes.number_formats.format import Format
from core.figures.drawing import Drawing
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.figures.dtypes.rounding_and_overflow.line_window import (
    BAND_NAMES,
    Window,
    as_float,
    bands,
    line_marks,
)
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _

MAX_FORMATS: Final = 4
ROW_PX: Final = 36
# Meaning of the colour and pattern of each band: who sees no colours still tells them apart.
_BANDS: Final = {
    "normal": ("exact", ""),
    "subnormal": ("sticky", "/"),
    "zero": ("underflow", "x"),
    "overflow": ("overflow", "."),
    "no_sign": ("other", "-"),
}


def number_line(
    formats: Sequence[Format],
    traces: Sequence[CastTrace],
    said: str,
    window: Window,
    mode: Mode = "light",
    *,
    present: bool = False,
) -> go.Figure:
    """Draw one row a format: bands, its numbers, and where the number goes.

    Args:
        formats: One to four formats, the topmost first.
        traces: What the number becomes in each.
        said: The number as the reader wrote it.
        window: Which part of the line, linear or logarithmic.
        mode: "light" or "dark".
        present: Larger text for a projector.

    Raises:
        ValueError: If there are no formats, or more than four.
    """
    if not 1 <= len(formats) <= MAX_FORMATS:
        raise ValueError(f"a number line has 1 to {MAX_FORMATS} formats, not {len(formats)}")
    drawing = Drawing()
    names = [_row_name(*row) for row in zip(formats, traces, strict=True)]
    _add_bands(drawing, formats, names, window, mode)
    for fmt, name in zip(formats, names, strict=True):
        _add_numbers(drawing, fmt, name, window, mode)
    _add_value(drawing, names, traces, said, window, mode)
    return drawing.figure(_layout(names, window, plotly_layout(mode, present=present)))


def _layout(names: list[str], window: Window, base: dict[str, Any]) -> dict[str, Any]:
    """Return the layout: the formats from top to bottom, the window from left to right."""
    size = base["font"]["size"]
    values, texts = window.axis_ticks()
    return {
        **base,
        "meta": {"floor": window.floor},  # where zero stands: another floor is another axis
        "height": len(names) * (ROW_PX + size) + 7 * size,
        "barmode": "overlay",
        "bargap": 0.25,
        "margin": {"l": 8, "r": 8, "t": 3 * size, "b": 8},
        "legend": {**base["legend"], "y": -0.1, "yanchor": "top"},
        "xaxis": {
            **base["xaxis"],
            "range": [window.at(window.low), window.at(window.high)],
            "tickvals": values,
            "ticktext": texts,
            "zeroline": False,
            "showgrid": False,
        },
        "yaxis": {
            **base["yaxis"],
            "autorange": "reversed",
            "categoryarray": names,
            "fixedrange": True,
            "showgrid": False,
        },
    }


def _row_name(fmt: Format, trace: CastTrace) -> str:
    return f"<b>{fmt.name}</b><br>→ {digits(trace.result, 8)}"


def _add_bands(
    drawing: Drawing, formats: Sequence[Format], names: list[str], window: Window, mode: Mode
) -> None:
    """Draw the ranges behind the numbers, one trace for each kind, so that the legend names it."""
    for kind, (color, pattern) in _BANDS.items():
        found = [
            (name, window.at(low), window.at(high))
            for fmt, name in zip(formats, names, strict=True)
            for each, low, high in bands(fmt, window)
            if each == kind
        ]
        if found:
            drawing.bar(
                orientation="h",
                y=[name for name, _low, _high in found],
                base=[low for _name, low, _high in found],
                x=[high - low for _name, low, high in found],
                name=_(BAND_NAMES[kind]),
                marker={
                    "color": COLORS[mode][color],
                    "opacity": 0.3,
                    "line": {"width": 1, "color": COLORS[mode][color]},
                    "pattern": {"shape": pattern, "size": 8, "fillmode": "overlay"},
                },
                hoverinfo="name",
            )


def _add_numbers(drawing: Drawing, fmt: Format, name: str, window: Window, mode: Mode) -> None:
    """Draw every number, or where they are too many only the powers of two that part them."""
    values, texts, are_all = line_marks(fmt, window)
    color, size = (COLORS[mode]["text"], 20) if are_all else (COLORS[mode]["muted"], 12)
    drawing.scatter(
        x=[window.at(value) for value in values],
        y=[name] * len(values),
        mode="markers",
        marker={
            "symbol": "line-ns-open",
            "size": size,
            "color": color,
            "line": {"width": 1.5},
        },
        hovertext=texts,
        hoverinfo="text",
        showlegend=False,
    )


def _add_value(
    drawing: Drawing,
    names: list[str],
    traces: Sequence[CastTrace],
    said: str,
    window: Window,
    mode: Mode,
) -> None:
    """Mark the number on all rows, and on each row the number that stands in for it."""
    colors = COLORS[mode]
    stored = [
        (window.at(trace.result), name, digits(trace.result))
        for name, trace in zip(names, traces, strict=True)
        if window.low <= trace.result <= window.high
    ]
    drawing.scatter(
        x=[x for x, _name, _text in stored],
        y=[name for _x, name, _text in stored],
        mode="markers",
        name=_("stored"),
        hovertext=[text for _x, _name, text in stored],
        hoverinfo="text",
        marker={
            "symbol": "circle-open",
            "size": 16,
            "color": colors["accent"],
            "line": {"width": 3, "color": colors["accent"]},
        },
    )
    value = as_float(traces[0].value)
    if window.low <= value <= window.high:
        at = window.at(value)
        line: dict[str, Any] = {"color": colors["text"], "width": 2, "dash": "dot"}
        drawing.shape(type="line", x0=at, x1=at, y0=0, y1=1, yref="paper", line=line)
        drawing.note(x=at, y=1, yref="paper", yanchor="bottom", text=f"<b>{said}</b>")


def number_line_alt(formats: Sequence[Format], traces: Sequence[CastTrace], said: str) -> str:
    """Return the picture as one sentence: what the number becomes in each row."""
    rows = [
        _("{result} in {format}").format(result=digits(trace.result, 8), format=fmt.name)
        for fmt, trace in zip(formats, traces, strict=True)
    ]
    return _("On the number line {number} becomes {rows}.").format(
        number=said, rows=_(", ").join(rows)
    )
