"""Times on a scale of powers of ten: least times as bars, measured and claimed ones as marks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import plotly.graph_objects as go

from core.figures.budget.flops_frame import hatched, joined, rows_of_bars
from core.figures.drawing import Drawing
from core.figures.picture import Look
from core.figures.theme import COLORS, Mode
from core.language import _
from core.units import format_seconds

_PATTERNS: Final = ("", "/", "x")


@dataclass(frozen=True, kw_only=True, slots=True)
class Least:
    """Least times of one thing.

    Attributes:
        name: Translated: what takes the times.
        color: Its colour in the theme.
        seconds: A translated row's label -> the least seconds.
        opacity: Below 1 where words of marks lie on the bars.
    """

    name: str
    color: str
    seconds: Mapping[str, float]
    opacity: float = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """Times that somebody measured or claimed, as marks in the rows."""

    name: str
    color: str
    symbol: str
    seconds: Mapping[str, float]


def least_times(
    bars: Sequence[Least],
    marks: Sequence[Mark],
    mode: Mode,
    *,
    present: bool = False,
) -> go.Figure:
    """Return the bars side by side in each row and the marks over them."""
    drawing = Drawing()
    for bar, pattern in zip(bars, _PATTERNS, strict=False):
        _draw_bars(drawing, bar, pattern, COLORS[mode])
    for mark in marks:
        _draw_marks(drawing, mark, COLORS[mode])
    return rows_of_bars(
        drawing,
        Look(mode=mode, present=present),
        num_rows=round(len(_labels(bars, marks)) * max(0.8, 0.6 * len(bars))),
        x=_across(bars, marks),
        barmode="group",
        bargap=0.25,
    )


def _draw_bars(drawing: Drawing, bar: Least, pattern: str, color: Mapping[str, str]) -> None:
    drawing.bar(
        orientation="h",
        x=list(bar.seconds.values()),
        y=list(bar.seconds),
        name=bar.name,
        marker={
            "color": color[bar.color],
            "opacity": bar.opacity,
            "pattern": hatched(pattern),
        },
        text=[format_seconds(each) for each in bar.seconds.values()],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: %{text}<extra>%{fullData.name}</extra>",
    )


def _draw_marks(drawing: Drawing, mark: Mark, color: Mapping[str, str]) -> None:
    drawing.scatter(
        x=list(mark.seconds.values()),
        y=list(mark.seconds),
        mode="markers+text",
        name=mark.name,
        marker={"color": color[mark.color], "symbol": mark.symbol, "size": 14},
        text=[f"  {format_seconds(each)}" for each in mark.seconds.values()],
        textposition="middle right",
        hovertemplate="%{y}: %{text}<extra>%{fullData.name}</extra>",
    )


def _across(bars: Sequence[Least], marks: Sequence[Mark]) -> dict[str, object]:
    """Return the axis of times, in powers of ten with room for the words to the right."""
    amounts = [each for group in _groups(bars, marks) for each in group.seconds.values()]
    low, high = min(amounts) / 4, max(amounts) * 12
    ticks = [10.0**power for power in range(-12, 9) if low <= 10.0**power <= high]
    return {
        "type": "log",
        "range": [math.log10(low), math.log10(high)],
        "tickvals": ticks,
        "ticktext": [_power_text(tick) for tick in ticks],
    }


def _labels(bars: Sequence[Least], marks: Sequence[Mark]) -> list[str]:
    return list(dict.fromkeys(label for each in _groups(bars, marks) for label in each.seconds))


def _groups(bars: Sequence[Least], marks: Sequence[Mark]) -> list[Least | Mark]:
    return [*bars, *marks]


def _power_text(seconds: float) -> str:
    return format_seconds(seconds).replace(".00 ", " ").replace(".0 ", " ")


def least_times_alt(bars: Sequence[Least], marks: Sequence[Mark]) -> str:
    """Return the picture in words."""
    parts = [
        f"{group.name}: "
        + joined([f"{label} {format_seconds(each)}" for label, each in group.seconds.items()])
        for group in _groups(bars, marks)
    ]
    return _("Times on a scale of powers of ten. {groups}.").format(groups=_("; ").join(parts))


def least_times_table(
    bars: Sequence[Least], marks: Sequence[Mark]
) -> Mapping[str, Sequence[object]]:
    """Return one row a label."""
    labels = _labels(bars, marks)
    columns: dict[str, Sequence[object]] = {_("where"): labels}
    for group in _groups(bars, marks):
        columns[group.name] = [
            format_seconds(group.seconds[label]) if label in group.seconds else "-"
            for label in labels
        ]
    return columns
