"""The number line: every number of up to four formats as a mark, with what happens in between."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.dtypes.exact import to_float
from core.dtypes.number_formats.format import Format
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.figures.dtypes.rounding_and_overflow.formats import Row, formats_table
from core.figures.dtypes.rounding_and_overflow.free_window import (
    beside_marks,
    window_marks,
    window_words,
)
from core.figures.dtypes.rounding_and_overflow.line_window import (
    BAND_NAMES,
    Window,
    bands,
    line_marks,
)
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import _

MAX_FORMATS: Final = 4
ROW_PX: Final = 36
_PRESENT_TICKS: Final = 3  # powers of two on each side of zero
# A hand moves a free window itself: Plotly has no tool for it.
_NO_TOOLS: Final = (
    "zoom", "pan", "select", "lasso", "zoomIn", "zoomOut", "autoScale", "resetScale",
)  # fmt: skip
# Meaning of the colour and pattern of each band: who sees no colours still tells them apart.
_BANDS: Final = {
    "normal": ("exact", ""),
    "subnormal": ("sticky", "/"),
    "zero": ("underflow", "x"),
    "overflow": ("overflow", "."),
    "no_sign": ("other", "-"),
}


def line_picture(rows: Sequence[Row], said: str, window: Window, look: Look) -> Picture:
    """Return one row a format: bands, its numbers, and where the number goes.

    `said` is the number as the reader wrote it.

    Raises:
        ValueError: If there are no formats, or more than four.
    """
    if not 1 <= len(rows) <= MAX_FORMATS:
        raise ValueError(f"a number line has 1 to {MAX_FORMATS} formats, not {len(rows)}")
    drawing = Drawing()
    named = {f"<b>{fmt.name}</b><br>→ {digits(t.result, 8)}": (fmt, t) for fmt, t in rows}
    _draw_bands(drawing, named, window, look)
    for name, (fmt, _trace) in named.items():
        _draw_numbers(drawing, fmt, name, window, look)
    _draw_stored(drawing, named, window, look)
    value = to_float(rows[0][1].value)
    low, high = window.drawn
    if low <= value <= high:
        draw_value(drawing, window.at(value), said, look, y=1)
    if window.is_free:
        _point_to_value(drawing, value, said, window)
    results = [
        _("{result} in {format}").format(result=digits(trace.result, 8), format=fmt.name)
        for fmt, trace in rows
    ]
    alt = _("On the number line {number} becomes {rows}.").format(
        number=said, rows=_(", ").join(results)
    )
    table = dict(formats_table(rows))
    if window.is_free:
        formats = [fmt for fmt, _trace in rows]
        alt = f"{window_words(formats, window)}. {alt}"
        table |= _counts(formats, window)
    figure = drawing.figure(_layout(list(named), window, look))
    return Picture(figure=figure, alt=alt, table=table)


def _counts(formats: Sequence[Format], window: Window) -> Table:
    """Return how many numbers lie in the window, and one in how many of them is marked."""
    marks = [window_marks(fmt, window) for fmt in formats]
    return {
        _("numbers in the window"): [each.num_numbers for each in marks],
        _("one mark for so many"): [each.every for each in marks],
    }


def _layout(names: list[str], window: Window, look: Look) -> dict[str, Any]:
    """Return the layout: the formats from top to bottom, the window from left to right."""
    base = look.layout()
    size = base["font"]["size"]
    values, texts = window.axis_ticks(_PRESENT_TICKS) if look.present else window.axis_ticks()
    across = {
        "range": [window.at(end) for end in (window.low, window.high)],
        "tickvals": values,
        "ticktext": texts,
        "zeroline": False,
        "tickangle": 0,
    }
    down = {"autorange": "reversed", "categoryarray": names, "fixedrange": True}
    below = -2.2 * size / (len(names) * (ROW_PX + size))  # under the axis, however few rows
    # Where zero stands, and both ends: with others it is another axis.
    meta = {"floor": window.floor, "low": window.low, "high": window.high}
    if window.is_free:
        low, high = map(window.at, window.drawn)
        across |= {"minallowed": low, "maxallowed": high, "fixedrange": True}
        base = base | {"dragmode": False, "modebar": {"remove": _NO_TOOLS}}
    return base | {
        "meta": meta,
        "height": len(names) * (ROW_PX + size) + (10 if window.is_free else 7) * size,
        "barmode": "overlay",
        "bargap": 0.25,
        "margin": {"l": 8, "r": 3 * size if window.is_free else 8, "t": 3 * size, "b": 8},
        "legend": base["legend"] | {"y": below, "yanchor": "top"},
        "xaxis": base["xaxis"] | across | {"showgrid": False},
        "yaxis": base["yaxis"] | down | {"showgrid": False},
    }


def _draw_bands(drawing: Drawing, rows: Mapping[str, Row], window: Window, look: Look) -> None:
    """Draw the ranges behind the numbers, one trace for each kind, so that the legend names it."""
    for kind, (meaning, pattern) in _BANDS.items():
        found = [
            (name, window.at(low), window.at(high))
            for name, (fmt, _trace) in rows.items()
            for each, low, high in bands(fmt, window)
            if each == kind
        ]
        if found:
            color = look.color(meaning)
            drawing.bar(
                orientation="h",
                y=[name for name, _low, _high in found],
                base=[low for _name, low, _high in found],
                x=[high - low for _name, low, high in found],
                name=_(BAND_NAMES[kind]),
                marker={
                    "color": color,
                    "opacity": 0.3,
                    "line": {"width": 1, "color": color},
                    "pattern": {"shape": pattern, "size": 8, "fillmode": "overlay"},
                },
                hoverinfo="name",
            )


def _draw_numbers(drawing: Drawing, fmt: Format, name: str, window: Window, look: Look) -> None:
    """Draw every number, or where they are too many only some, as the window says."""
    if not window.is_free:
        _draw_marks(drawing, name, line_marks(fmt, window), window, look)
        return
    for marks in (window_marks(fmt, window), *beside_marks(fmt, window)):
        texts = [digits(value, 17) for value in marks.values]
        if marks.every > 1:
            note = _("1 in {every} marked").format(every=f"{marks.every:,}")
            texts = [f"{text}<br>{note}" for text in texts]
        if texts:
            of_row = list(marks.values), texts, marks.every == 1
            _draw_marks(drawing, name, of_row, window, look)


def _draw_marks(
    drawing: Drawing,
    name: str,
    marks: tuple[list[float], list[str], bool],
    window: Window,
    look: Look,
) -> None:
    """Draw what is marked in a row: where, with what words, and whether it is every number."""
    values, texts, are_all = marks
    drawing.scatter(
        x=[window.at(value) for value in values],
        y=[name] * len(values),
        mode="markers",
        marker={
            "symbol": "line-ns-open",
            "size": 20 if are_all else 12,
            "color": look.color("text" if are_all else "muted"),
            "line": {"width": 1.5},
        },
        hovertext=texts,
        hoverinfo="text",
        showlegend=False,
    )


def _draw_stored(drawing: Drawing, rows: Mapping[str, Row], window: Window, look: Look) -> None:
    """Mark on each row the number that stands in for the reader's."""
    stored = [
        (window.at(trace.result), name, digits(trace.result))
        for name, (_fmt, trace) in rows.items()
        if window.drawn[0] <= trace.result <= window.drawn[1]
    ]
    color = look.color("accent")
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
            "color": color,
            "line": {"width": 3, "color": color},
        },
    )


def _point_to_value(drawing: Drawing, value: float, said: str, window: Window) -> None:
    """Say at an end of a free window in which direction the reader's number lies outside it."""
    end = {"xref": "paper", "y": 1, "yref": "paper", "yanchor": "bottom"}
    if value < window.low:
        drawing.note(x=0, xanchor="left", text=f"← <b>{said}</b>", **end)
    elif value > window.high:
        drawing.note(x=1, xanchor="right", text=f"<b>{said}</b> →", **end)


def draw_value(drawing: Drawing, at: float, said: str, look: Look, **place: object) -> None:
    """Draw the reader's number over the whole height, as it was written; `place` is the note's."""
    line = {"color": look.color("text"), "width": 2, "dash": "dot"}
    drawing.shape(type="line", x0=at, x1=at, y0=0, y1=1, yref="paper", line=line)
    drawing.note(x=at, yref="paper", yanchor="bottom", text=f"<b>{said}</b>", **place)
