"""Relative spacing: how far apart neighbours are, measured by their own size, at every size."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

from core.dtypes.exact import to_float
from core.dtypes.facts.format_facts import format_facts, short_number
from core.dtypes.facts.number_line import some_stretches
from core.dtypes.number_formats.format import Format
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.figures.dtypes.rounding_and_overflow.line import draw_value
from core.figures.dtypes.rounding_and_overflow.line_window import power_text
from core.figures.picture import Drawing, Look, Picture, Piece
from core.language import _
from core.units import format_percent

HEIGHT_PX: Final = 340
PRESENT_HEIGHT_PX: Final = 350
COLORS_OF_LINES: Final = ("format_a", "format_b", "format_c", "format_d")
_NUM_TICKS: Final = 10
_CROWDED: Final = 4  # the next line is so near above that a name there would lie on it
_TOP: Final = 1023.999  # log2 of the largest float64, as float64 has it, is 1024


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

    Zero, infinity and NaN have no such line; `said` is the number as the reader wrote it.

    Raises:
        ValueError: If there are no formats, or more than four.
    """
    most = len(COLORS_OF_LINES)
    if not 1 <= len(formats) <= most:
        raise ValueError(f"the picture has 1 to {most} formats, not {len(formats)}")
    drawing, value = Drawing(), to_float(number)
    for fmt, color in zip(formats, COLORS_OF_LINES, strict=False):
        crowded = any(1 < other.eps / fmt.eps <= _CROWDED for other in formats)
        _draw_spacing(drawing, fmt, look.color(color), name_below=crowded)
    layout = look.layout() | _frame(drawing.traces, look)
    if value and math.isfinite(value):
        draw_value(drawing, math.log2(abs(value)), said, look, y=0, xanchor="left", xshift=4)
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
        x=magnitudes,
        y=spacings,
        mode="lines",
        name=fmt.name,
        line={"color": color, "width": 2},
        hovertext=[
            f"{2.0 ** min(magnitude, _TOP):.4g}: {format_percent(2.0**spacing)}"
            for magnitude, spacing in zip(magnitudes, spacings, strict=True)
        ],
        hoverinfo="text+name",
    )
    drawing.note(
        x=magnitudes[-1],
        y=(min if name_below else max)(spacings[-2:]),
        yshift=-4 if name_below else 4,
        xanchor="right",
        yanchor="top" if name_below else "bottom",
        text=f"<b>{fmt.name}</b>",
        font={"color": color},
    )


def _frame(lines: Sequence[Piece], look: Look) -> dict[str, Any]:
    """Return what is around the lines; both axes are marked in powers of two."""
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
