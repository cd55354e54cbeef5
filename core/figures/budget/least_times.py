"""Times on a scale of powers of ten: least times as bars, measured and claimed ones as marks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.figures.budget.frames import hatched, log_axis, rows_of_bars
from core.figures.picture import Drawing, Look, Picture, Table
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


Groups = Sequence[Least | Mark]


def least_times_picture(bars: Sequence[Least], marks: Sequence[Mark], look: Look) -> Picture:
    """Return the bars side by side in each row and the marks over them."""
    drawing = Drawing()
    groups: Groups = (*bars, *marks)
    for bar, pattern in zip(bars, _PATTERNS, strict=False):
        _draw_bars(drawing, bar, pattern, look)
    for mark in marks:
        drawing.scatter(
            x=list(mark.seconds.values()),
            y=list(mark.seconds),
            mode="markers+text",
            name=mark.name,
            marker={"color": look.color(mark.color), "symbol": mark.symbol, "size": 14},
            text=[f"  {format_seconds(each)}" for each in mark.seconds.values()],
            textposition="middle right",
            hovertemplate="%{y}: %{text}<extra>%{fullData.name}</extra>",
        )
    labels = list(dict.fromkeys(label for group in groups for label in group.seconds))
    seconds = [each for group in groups for each in group.seconds.values()]
    low, high = min(seconds) / 4, max(seconds) * 12  # room for the words to the right
    ticks = [10.0**power for power in range(-12, 9) if low <= 10.0**power <= high]
    figure = rows_of_bars(
        drawing,
        look,
        num_rows=round(len(labels) * max(0.8, 0.6 * len(bars))),
        x=log_axis(ticks, _whole, range=[math.log10(low), math.log10(high)]),
        barmode="group",
        bargap=0.25,
    )
    return Picture(figure=figure, alt=_sentence(groups), table=_table(labels, groups))


def _draw_bars(drawing: Drawing, bar: Least, pattern: str, look: Look) -> None:
    drawing.bar(
        orientation="h", x=list(bar.seconds.values()), y=list(bar.seconds), name=bar.name,
        marker=hatched(look.color(bar.color), pattern) | {"opacity": bar.opacity},
        text=[format_seconds(each) for each in bar.seconds.values()], textposition="outside",
        constraintext="none", cliponaxis=False,
        hovertemplate="%{y}: %{text}<extra>%{fullData.name}</extra>",
    )  # fmt: skip


def _whole(seconds: float) -> str:
    return format_seconds(seconds).replace(".00 ", " ").replace(".0 ", " ")


def _sentence(groups: Groups) -> str:
    parts = []
    for group in groups:
        times = [f"{label} {format_seconds(each)}" for label, each in group.seconds.items()]
        parts.append(_("{name}: {times}").format(name=group.name, times=_(", ").join(times)))
    return _("Times on a scale of powers of ten. {groups}.").format(groups=_("; ").join(parts))


def _table(labels: Sequence[str], groups: Groups) -> Table:
    columns: dict[str, Sequence[object]] = {_("where"): labels}
    for group in groups:
        columns[group.name] = [
            format_seconds(group.seconds[label]) if label in group.seconds else "-"
            for label in labels
        ]
    return columns
