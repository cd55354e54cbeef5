"""What a device holds at the peak of training: one bar a stage, and the line where it is full.

The last part of a bar, hatched and pale, reaches to the upper end of the honest band.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Final

from core.budget.item import Item
from core.figures.budget.frames import NAMED_BAR, name_above, rows_of_bars, text_size
from core.figures.budget.stacked_parts import (
    capacity_line,
    legend_below,
    parts_table,
    small_together,
    stack,
    write_beside,
)
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import _

MOST_BARS: Final = 16
# Times the text's size: beside the longest bar, for its total; on a phone the legend is a column,
# which takes so much more of the height, and no more than half of it.
_BESIDE: Final = 6
_LEGEND: Final = 4.5
_SHORTEST: Final = 19  # on a phone the names stand in one column, and none scrolls
_TALL: Final = 25.5
# Of names above their bars: a row, and what stands around the rows.
_NAMED_ROW: Final = 4.2
_AROUND_NAMED: Final = 15.4


@dataclass(frozen=True, slots=True)
class DeviceBar:
    """One bar.

    Attributes:
        label: Translated: "stage 0".
        parts: What it is made of.
        low: Lower end of the band of their sum, in bytes.
        high: Upper end of it; infinite where it is not known.
        beside: Translated words behind the label, a line each: hours and cost.
    """

    label: str
    parts: Sequence[Item]
    low: float
    high: float
    beside: Sequence[str] = ()

    @property
    def amount(self) -> float:
        """Bytes of all parts."""
        return sum(part.amount for part in self.parts)

    @property
    def end(self) -> float:
        """Where the bar ends with its possible overhead, as far as that is known."""
        return max(self.amount, 0 if self.high == inf else self.high)


Bars = Sequence[DeviceBar]


def bar_picture(bars: Bars, capacity: float, look: Look, *, named_above: bool = False) -> Picture:
    """Return the bars, the first stage on top, with the line of the device's capacity.

    Args:
        bars: One a stage, at most MOST_BARS.
        capacity: Bytes of a device.
        look: How the reader wants to see.
        named_above: Whether labels are so long that beside the bars they would leave them no room.
    """
    drawing = Drawing()
    longest = max(capacity, *(bar.end for bar in bars))
    stack(drawing, [(bar.label, small_together(bar.parts)) for bar in bars], look, flat=True)
    _draw_uncertain(drawing, bars, look)
    text = _("full at {size}").format(size=look.format_bytes(capacity))
    capacity_line(drawing, capacity, text, look, flat=True, longest=longest)
    has_room = len(bars) < MOST_BARS
    two_lines = has_room and not look.present
    names = [" · ".join([f"<b>{bar.label}</b>", *bar.beside]) for bar in bars]
    # First, for their ground would cover the sums.
    above = name_above(drawing, names, look) if named_above else {}
    for bar in bars:
        text = _sum_of(bar, look, two_lines=two_lines)
        write_beside(drawing, bar.end, bar.label, text, look)
    size = text_size(look)
    tall = 1.7 * max(3, (2 if has_room else 1.3) * len(bars)) + 8
    tall = tall if look.present else max(_SHORTEST, tall)
    named: dict[str, Any] = {"showticklabels": len(bars) > 1}
    if any(bar.beside for bar in bars):
        most = None if two_lines else 1
        ticks = [f"<b>{bar.label}</b> · " + "<br>".join(bar.beside[:most]) for bar in bars]
        named |= {"tickvals": [bar.label for bar in bars], "ticktext": ticks}
        tall = tall if look.present else max(_TALL, tall + _LEGEND)
    if named_above:
        tall = tall if look.present else max(_TALL, _NAMED_ROW * len(bars) + _AROUND_NAMED)
    figure = rows_of_bars(
        drawing, look, num_rows=0, x={"visible": False, "range": [0, 1.01 * longest]},
        y=named | above, legend=legend_below(look) | {"xref": "container", "maxheight": 0.8},
        height=round(tall * size),
        margin={"l": 8, "r": _BESIDE * size, "t": 2 * size, "b": 8},
        bargap=1 - NAMED_BAR if named_above else 0.25 if len(bars) > 1 else 0.5,
    )  # fmt: skip
    return Picture(figure=figure, alt=_sentence(bars, capacity, look), table=_table(bars, look))


def _draw_uncertain(drawing: Drawing, bars: Bars, look: Look) -> None:
    """Add the part of each bar that is possible overhead."""
    color = look.color("estimated")
    bands = [
        _("{low} to {high}").format(low=look.format_bytes(bar.low), high=_end(bar, look))
        for bar in bars
    ]
    drawing.bar(
        x=[bar.end - bar.amount or None for bar in bars], y=[bar.label for bar in bars],
        orientation="h", name=_("possible overhead"),
        marker={
            "color": "rgba(0,0,0,0)",
            "line": {"color": color, "width": 1},
            "pattern": {"shape": "/", "fgcolor": color, "fillmode": "overlay"},
        },
        customdata=bands, hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
    )  # fmt: skip


def _sum_of(bar: DeviceBar, look: Look, *, two_lines: bool) -> str:
    text = f" <b>{look.format_bytes(bar.amount)}</b>"
    if two_lines and bar.end > bar.amount:
        most = _("up to {size}").format(size=_end(bar, look))
        text += f"<br> {most}"
    return text


def _end(bar: DeviceBar, look: Look) -> str:
    return "?" if bar.high == inf else look.format_bytes(bar.high)


def _sentence(bars: Bars, capacity: float, look: Look) -> str:
    """Name the most loaded bar, its largest parts, the line."""
    most = max(bars, key=lambda bar: bar.amount)
    largest = sorted(most.parts, key=lambda part: -part.amount)[:4]
    parts = [
        _("{name} {size}").format(name=_(part.name), size=look.format_bytes(part.amount))
        for part in largest
    ]
    said = _(
        "A device holds {amount} at the peak, between {low} and {high}: {parts}. It is full at "
        "{capacity}."
    )
    if len(bars) > 1:
        said = _(
            "The most loaded device, {label}, holds {amount} at the peak, between {low} and "
            "{high}: {parts}. It is full at {capacity}."
        )
    return said.format(
        label=most.label, amount=look.format_bytes(most.amount), low=look.format_bytes(most.low),
        high=_end(most, look), parts=_(", ").join(parts), capacity=look.format_bytes(capacity),
    )  # fmt: skip


def _table(bars: Bars, look: Look) -> Table:
    """Return one row a bar: its parts, its total, its band."""
    beside = {_("time and cost"): [" · ".join(bar.beside) for bar in bars]}
    return {
        **parts_table([(bar.label, bar.parts) for bar in bars], look, _("device")),
        _("at least"): [look.format_bytes(bar.low) for bar in bars],
        _("at most"): [_end(bar, look) for bar in bars],
        **(beside if any(bar.beside for bar in bars) else {}),
    }
