"""Relative spacing: how far apart neighbours are, measured by their own size, at every size."""

import math
from collections.abc import Sequence
from typing import Any, Final

import pandas  # noqa: F401, ICN001  plotly trips over a pandas that another thread still loads
import plotly.graph_objects as go

from core.dtypes.facts.format_facts import format_facts
from core.dtypes.facts.number_line import some_stretches
from core.dtypes.number_formats.format import Format
from core.figures.drawing import Drawing, Piece
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _

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


def relative_spacing(
    formats: Sequence[Format],
    value: float,
    said: str,
    mode: Mode = "light",
    *,
    present: bool = False,
) -> go.Figure:
    """Draw one line a format, its name at its end, and the number's magnitude as a vertical line.

    Args:
        formats: One to four formats.
        value: The number; no line for zero, infinity and NaN.
        said: The number as the reader wrote it.
        mode: "light" or "dark".
        present: Larger text for a projector.

    Raises:
        ValueError: If there are no formats, or more than four.
    """
    most = len(COLORS_OF_LINES)
    if not 1 <= len(formats) <= most:
        raise ValueError(f"the picture has 1 to {most} formats, not {len(formats)}")
    drawing = Drawing()
    for fmt, color in zip(formats, COLORS_OF_LINES, strict=False):
        crowded = any(1 < other.eps / fmt.eps <= _CROWDED for other in formats)
        _add_line(drawing, fmt, COLORS[mode][color], name_below=crowded)
    axes = _axes(drawing.traces, plotly_layout(mode, present=present))
    if value and math.isfinite(value):
        _add_value(drawing, value, said, COLORS[mode]["text"])
    height = PRESENT_HEIGHT_PX if present else HEIGHT_PX
    margin = {"l": 8, "r": 8, "t": 8, "b": 8}
    return drawing.figure({**axes, "height": height, "showlegend": False, "margin": margin})


def _add_line(drawing: Drawing, fmt: Format, color: str, *, name_below: bool) -> None:
    magnitudes, spacings = spacing_points(fmt)
    drawing.scatter(
        x=magnitudes,
        y=spacings,
        mode="lines",
        name=fmt.name,
        line={"color": color, "width": 2},
        hovertext=[
            f"{2.0 ** min(magnitude, _TOP):.4g}: {2.0**spacing * 100:.3g} %"
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


def _add_value(drawing: Drawing, value: float, said: str, color: str) -> None:
    at = math.log2(abs(value))
    line = {"color": color, "dash": "dot", "width": 2}
    drawing.shape(type="line", x0=at, x1=at, y0=0, y1=1, yref="paper", line=line)
    drawing.note(
        x=at,
        y=0,
        yref="paper",
        yanchor="bottom",
        xanchor="left",
        xshift=4,
        text=f"<b>{said}</b>",
    )


def _axes(lines: Sequence[Piece], layout: dict[str, Any]) -> dict[str, Any]:
    """Return the layout with both axes marked in powers of two."""
    titles = {"x": _("magnitude |x|"), "y": _("distance to the neighbour / |x|")}
    for axis, title in titles.items():
        values = [point for line in lines for point in line[axis]]
        step = max(round((max(values) - min(values)) / _NUM_TICKS), 1)
        first = -(-math.floor(min(values)) // step) * step
        ticks = list(range(first, math.ceil(max(values)) + 1, step))
        layout[f"{axis}axis"] = {
            **layout[f"{axis}axis"],
            "tickvals": ticks,
            "ticktext": [power_text(each, share=axis == "y") for each in ticks],
            "title": {"text": title},
            "zeroline": False,
        }
    return layout


def power_text(exponent: int, *, share: bool = False) -> str:
    """Return a power of two for an axis; as a share also in percent, while that says anything.

    >>> power_text(-7, share=True), power_text(3)
    ('2<sup>−7</sup> = 0.781 %', '2<sup>3</sup>')
    """
    power = f"2<sup>{exponent}</sup>".replace("-", "−")
    if not share or exponent < -14:
        return power
    return f"{power} = {2.0**exponent * 100:.3g} %"


def spacing_alt(formats: Sequence[Format], said: str) -> str:
    """Return the picture as sentences: the epsilon of each format."""
    parts = [
        _("{format} {eps}").format(format=fmt.name, eps=digits(eps, 4))
        for fmt in formats
        if (eps := format_facts(fmt).eps) is not None
    ]
    return _(
        "Relative distance between neighbours against magnitude, marked at {value}. "
        "Just above 1 it is: {parts}."
    ).format(value=said, parts=_(", ").join(parts))
