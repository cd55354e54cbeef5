"""The number line of up to four formats: all of it, a part, a window to move, or the gaps on it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from core.dtypes.exact import to_float
from core.dtypes.facts.format_facts import format_facts, short_number
from core.dtypes.facts.number_line import some_stretches
from core.dtypes.number_formats.format import Format
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.figures.dtypes.rounding_and_overflow.line_window import (
    BAND_NAMES,
    Window,
    bands,
    beside_marks,
    free_window,
    line_marks,
    power_text,
    window_marks,
    window_of,
    window_words,
)
from core.figures.picture import Drawing, Look, Picture, Piece
from core.language import N_, _
from core.units import format_percent
from pages.dtypes.rounding_and_overflow.answer import answered
from pages.dtypes.rounding_and_overflow.formats import Row, formats_table
from pages.dtypes.rounding_and_overflow.inputs import ASK, Case
from pages.dtypes.rounding_and_overflow.window import FreePart, follow_the_hand
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

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
HEIGHT_PX: Final = 340
PRESENT_HEIGHT_PX: Final = 350
COLORS_OF_LINES: Final = ("format_a", "format_b", "format_c", "format_d")
_NUM_TICKS: Final = 10
_CROWDED: Final = 4  # the next line is so near above that a name there would lie on it
_TOP: Final = 1023.999  # log2 of the largest float64, as float64 has it, is 1024
_CODE: Final = """
from core.dtypes import FORMATS
from core.dtypes.facts.number_line import marks_between

for name in {names!r}:
    marks = marks_between(FORMATS[name], {low!r}, {high!r})
    print(f"{{marks.num_numbers:,}} in {{name}}, one mark for {{marks.every:,}}")
"""


def line(case: Case) -> Shown:
    if isinstance(case.part, FreePart):
        return _in_window(case, case.part)
    if case.part == "spacing":
        picture = spacing_picture(case.formats, case.source(), case.said, look())
        return answered(case, picture, "spacing")
    rows = [(fmt, case.into(fmt)) for fmt in case.formats]
    window = window_of(case.part, case.formats, rows[0][1])
    shown = answered(case, line_picture(rows, case.said, window, look()), "number_line")
    return replace(shown, notes=[note for note in [follow_the_hand(ASK, window)] if note])


def _in_window(case: Case, part: FreePart) -> Shown:
    """Show the part of the line that the reader moves and zooms, and count the numbers in it."""
    window, changed = free_window(part.center, part.exponent)
    rows = [(fmt, case.into(fmt)) for fmt in case.formats]
    picture = line_picture(rows, case.said, window, look())
    return Shown(
        headline=window_words(case.formats, window),
        charts=[Chart(picture=picture, file_name="number_line", key="window")],
        notes=[note for note in (changed, follow_the_hand(ASK, window)) if note],
        code=_CODE.format(
            names=tuple(fmt.name for fmt in case.formats), low=window.low, high=window.high
        ),
    )


def line_picture(rows: Sequence[Row], said: str, window: Window, look: Look) -> Picture:
    """Return one row a format: bands, its numbers, and where the number goes."""
    drawing = Drawing()
    named = {f"<b>{fmt.name}</b><br>→ {digits(t.result, 8)}": (fmt, t) for fmt, t in rows}
    _draw_bands(drawing, named, window, look)
    for name, (fmt, _trace) in named.items():
        _draw_numbers(drawing, fmt, name, window, look)
    _draw_stored(drawing, named, window, look)
    value = to_float(rows[0][1].value)
    low, high = window.drawn
    if low <= value <= high:
        _draw_value(drawing, window.at(value), said, look, y=1)
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
        alt = _("{said}. {more}").format(said=window_words(formats, window), more=alt)
        marks = [window_marks(fmt, window) for fmt in formats]
        table[_("numbers in the window")] = [each.num_numbers for each in marks]
        table[_("one mark for so many")] = [each.every for each in marks]
    figure = drawing.figure(_layout(list(named), window, look))
    return Picture(figure=figure, alt=alt, table=table)


def _layout(names: list[str], window: Window, look: Look) -> dict[str, Any]:
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
        "legend": base["legend"] | {"yref": "container", "y": 0, "yanchor": "bottom"},
        "xaxis": base["xaxis"] | across | {"showgrid": False},
        "yaxis": base["yaxis"] | down | {"showgrid": False},
    }


def _draw_bands(drawing: Drawing, rows: Mapping[str, Row], window: Window, look: Look) -> None:
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
    values, texts, are_all = marks
    drawing.scatter(
        x=[window.at(value) for value in values], y=[name] * len(values), mode="markers",
        marker={
            "symbol": "line-ns-open",
            "size": 20 if are_all else 12,
            "color": look.color("text" if are_all else "muted"),
            "line": {"width": 1.5},
        },
        hovertext=texts, hoverinfo="text", showlegend=False,
    )  # fmt: skip


def _draw_stored(drawing: Drawing, rows: Mapping[str, Row], window: Window, look: Look) -> None:
    stored = [
        (window.at(trace.result), name, digits(trace.result))
        for name, (_fmt, trace) in rows.items()
        if window.drawn[0] <= trace.result <= window.drawn[1]
    ]
    color = look.color("accent")
    drawing.scatter(
        x=[x for x, _name, _text in stored], y=[name for _x, name, _text in stored], mode="markers",
        name=_("stored"), hovertext=[text for _x, _name, text in stored], hoverinfo="text",
        marker={
            "symbol": "circle-open",
            "size": 16,
            "color": color,
            "line": {"width": 3, "color": color},
        },
    )  # fmt: skip


def _point_to_value(drawing: Drawing, value: float, said: str, window: Window) -> None:
    """Say at an end of a free window in which direction the reader's number lies outside it."""
    end = {"xref": "paper", "y": 1, "yref": "paper", "yanchor": "bottom"}
    if value < window.low:
        drawing.note(x=0, xanchor="left", text=f"← <b>{said}</b>", **end)
    elif value > window.high:
        drawing.note(x=1, xanchor="right", text=f"<b>{said}</b> →", **end)


def _draw_value(drawing: Drawing, at: float, said: str, look: Look, **place: object) -> None:
    line = {"color": look.color("text"), "width": 2, "dash": "dot"}
    drawing.shape(type="line", x0=at, x1=at, y0=0, y1=1, yref="paper", line=line)
    drawing.note(x=at, yref="paper", yanchor="bottom", text=f"<b>{said}</b>", **place)


def spacing_points(fmt: Format) -> tuple[list[float], list[float]]:
    """Return log2 of the magnitude and log2 of (distance / magnitude), the smallest first.

    Two points a stretch: where it begins and where it ends. Between them the line is straight,
    because the distance does not change.
    """
    magnitudes: list[float] = []
    spacings: list[float] = []
    for each in some_stretches(fmt):
        for magnitude in (each.low, each.high):
            magnitudes.append(math.log2(magnitude))
            spacings.append(math.log2(each.gap) - math.log2(magnitude))
    return magnitudes, spacings


def spacing_picture(
    formats: Sequence[Format], number: Fraction | float, said: str, look: Look
) -> Picture:
    """Return one line a format, its name at its end, and the number's magnitude as a vertical line.

    Zero, infinity and NaN have no such line.
    """
    drawing, value = Drawing(), to_float(number)
    for fmt, color in zip(formats, COLORS_OF_LINES, strict=False):
        crowded = any(1 < other.eps / fmt.eps <= _CROWDED for other in formats)
        _draw_spacing(drawing, fmt, look.color(color), name_below=crowded)
    layout = look.layout() | _frame(drawing.traces, look)
    if value and math.isfinite(value):
        _draw_value(drawing, math.log2(abs(value)), said, look, y=0, xanchor="left", xshift=4)
    steps = [format_facts(fmt).eps for fmt in formats]
    parts = [
        _("{format} {eps}").format(format=fmt.name, eps=digits(eps, 4))
        for fmt, eps in zip(formats, steps, strict=True)
        if eps is not None
    ]
    alt = _(
        "Relative distance between neighbours against magnitude, marked at {value}. "
        "Just above 1 it is: {parts}."
    ).format(value=said, parts=_(", ").join(parts))
    table = {
        _("format"): [fmt.name for fmt in formats],
        _("gap above 1"): [short_number(eps, 12) for eps in steps],
        _("smallest"): [digits(fmt.smallest_subnormal) for fmt in formats],
        _("largest"): [digits(fmt.max) for fmt in formats],
    }
    return Picture(figure=drawing.figure(layout), alt=alt, table=table)


def _draw_spacing(drawing: Drawing, fmt: Format, color: str, *, name_below: bool) -> None:
    magnitudes, spacings = spacing_points(fmt)
    drawing.scatter(
        x=magnitudes, y=spacings, mode="lines", name=fmt.name, line={"color": color, "width": 2},
        hovertext=[
            f"{2.0 ** min(magnitude, _TOP):.4g}: {format_percent(2.0**spacing)}"
            for magnitude, spacing in zip(magnitudes, spacings, strict=True)
        ],
        hoverinfo="text+name",
    )  # fmt: skip
    drawing.note(
        x=magnitudes[-1], y=(min if name_below else max)(spacings[-2:]),
        yshift=-4 if name_below else 4, xanchor="right", yanchor="top" if name_below else "bottom",
        text=f"<b>{fmt.name}</b>", font={"color": color},
    )  # fmt: skip


def _frame(lines: Sequence[Piece], look: Look) -> dict[str, Any]:
    frame = {
        "height": PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
        "showlegend": False,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
    }
    titles = {"x": _("magnitude |x|"), "y": _("relative spacing, gap / |x|")}
    for axis, title in titles.items():
        values = [point for line in lines for point in line[axis]]
        step = max(round((max(values) - min(values)) / _NUM_TICKS), 1)
        first = -(-math.floor(min(values)) // step) * step
        ticks = list(range(first, math.ceil(max(values)) + 1, step))
        frame[f"{axis}axis"] = look.layout()[f"{axis}axis"] | {
            "tickvals": ticks,
            "ticktext": [power_text(each, share=axis == "y") for each in ticks],
            "title": {"text": title},
            "zeroline": False,
        }
    return frame


TAB = Tab(label=N_("Number line"), show=line)
