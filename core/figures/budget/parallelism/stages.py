"""Bars of what devices hold: each pipeline stage at its peak, each way to shard the states."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from core.budget.parallel.sharding import STRATEGIES, Sharding
from core.figures.budget.parallelism.frame import lying_bars, text_size
from core.figures.budget.stacked_parts import REST, Bars, capacity_line, parts_table, stack
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import _
from core.units import format_seconds

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

HEIGHT_PX: Final = {False: 400, True: 450}  # by whether it is on a projector
PAIR_HEIGHT_PX: Final = 300
_ROOM: Final = 1.12
_SMALL: Final = frozenset({"temporary", "data", "communication buffers", "allocator reserve"})
_MOST_TOTALS: Final = 12  # bars that still have room for their total above them
_ROW_HEIGHT: Final = 3.0  # of the text's size
_SENT_ROOM: Final = {False: 1.8, True: 1.5}  # of the longest bar: what is sent stands beside it


def stages_picture(bars: Bars, capacity: float, look: Look) -> Picture:
    """Return the stages side by side, below the line at which a device is full."""
    alt = _stages_sentence(bars, _totals(bars), capacity, look)
    figure = _standing_bars(bars, capacity, HEIGHT_PX[look.present], look)
    return Picture(figure=figure, alt=alt, table=parts_table(bars, look, _("stage")))


def pair_picture(bars: Bars, look: Look) -> Picture:
    """Return what a rank holds in one way and in another, side by side."""
    held = zip([label for label, _parts in bars], _totals(bars), strict=True)
    alt = _("Weights, gradients and optimizer states on each rank: {parts}.").format(
        parts=_sizes_said(held, look)
    )
    figure = _standing_bars(bars, None, PAIR_HEIGHT_PX, look)
    return Picture(figure=figure, alt=alt, table=parts_table(bars, look, _("stage")))


def _standing_bars(bars: Bars, capacity: float | None, height: int, look: Look) -> "Figure":
    """Return bars with their totals above them, where there is room, and a line if there is one."""
    drawing, totals = Drawing(), _totals(bars)
    stack(drawing, _small_ones_together(bars), look, flat=False)
    if capacity is not None:
        text = _("device: {size}").format(size=look.format_bytes(capacity))
        capacity_line(drawing, capacity, text, look, flat=False)
    for (label, _parts), amount in zip(bars, totals, strict=True):
        if len(bars) <= _MOST_TOTALS:
            drawing.note(x=label, y=amount, yanchor="bottom", text=look.format_bytes(amount))
    layout, still = look.layout(), {"fixedrange": True, "showgrid": False}
    highest = _ROOM * max(capacity or 0, *totals)
    axes = {
        "xaxis": layout["xaxis"] | still | {"type": "category"},
        "yaxis": layout["yaxis"] | still | {"visible": False, "range": [0, highest]},
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 56, "b": 8},
        "legend": layout["legend"] | {"traceorder": "normal"},
    }
    return drawing.figure(layout | axes | {"barmode": "stack", "bargap": 0.3})


def _small_ones_together(bars: Bars) -> Bars:
    """Return the bars with one part for all that is neither state nor activation."""
    return [
        (label, [replace(part, name=REST) if part.name in _SMALL else part for part in parts])
        for label, parts in bars
    ]


def _totals(bars: Bars) -> list[int]:
    return [sum(part.num_bytes for part in parts) for _label, parts in bars]


def _stages_sentence(bars: Bars, totals: Sequence[int], capacity: float, look: Look) -> str:
    most, least = totals.index(max(totals)), totals.index(min(totals))
    if len(bars) == 1:
        return _("What a device holds at its peak: {size}; a device has {capacity}.").format(
            size=look.format_bytes(totals[0]), capacity=look.format_bytes(capacity)
        )
    return _(
        "What a device of each of {count} stages holds at its peak: {first} most, {most}; {last} "
        "least, {least}; a device has {capacity}."
    ).format(
        count=len(bars),
        first=bars[most][0],
        most=look.format_bytes(totals[most]),
        last=bars[least][0],
        least=look.format_bytes(totals[least]),
        capacity=look.format_bytes(capacity),
    )


def _sizes_said(sizes: Iterable[tuple[str, float]], look: Look) -> str:
    return _(", ").join(
        _("{name} {size}").format(name=name, size=look.format_bytes(size)) for name, size in sizes
    )


def sharding_picture(ways: Sequence[Sharding], capacity: float, chosen: str, look: Look) -> Picture:
    """Return DDP, ZeRO and FSDP side by side: states of a device, and what it sends for that.

    Args:
        ways: One bar each.
        capacity: Bytes of a device; its line is drawn where it is not far beyond the bars.
        chosen: Key of the way whose name is bold.
        look: How the reader wants to see.
    """
    drawing, bars = Drawing(), _way_bars(ways, chosen)
    stack(drawing, bars, look, flat=True)
    room = _SENT_ROOM[look.present] * max(way.held.amount for way in ways)
    if capacity < room:
        text = _("device: {size}").format(size=look.format_bytes(capacity))
        capacity_line(drawing, capacity, text, look, flat=True, longest=room)
    for (label, _parts), way in zip(bars, ways, strict=True):
        note = f" {look.format_bytes(way.held.amount)}"
        note += "" if look.present else f"<br> {sent_text(way, look)}"  # large letters have no room
        drawing.note(x=way.held.amount, y=label, xanchor="left", align="left", text=note)
    size = text_size(look)
    figure = lying_bars(
        drawing,
        look,
        room=room,
        height=round(len(ways) * size * _ROW_HEIGHT) + 6 * size,
        top=5 * size,
        legend=look.layout()["legend"] | {"y": 1.12, "traceorder": "normal"},
        barmode="stack",
        bargap=0.35,
    )
    held = [(_(STRATEGIES[way.key]), way.held.amount) for way in ways]
    alt = _("Weights, gradients and optimizer states on one device: {parts}.").format(
        parts=_sizes_said(held, look)
    )
    return Picture(figure=figure, alt=alt, table=_sharding_table(ways, look))


def _way_bars(ways: Sequence[Sharding], chosen: str = "") -> Bars:
    names = {way.key: _(STRATEGIES[way.key]) for way in ways}
    bold = {key: f"<b>{name}</b>" if key == chosen else name for key, name in names.items()}
    return [(bold[way.key], way.held.children) for way in ways]


def sent_text(way: Sharding, look: Look) -> str:
    """Return what a way sends in a step and how long that takes."""
    return _("sends {size} in {time}").format(
        size=look.format_bytes(way.sent.amount), time=format_seconds(way.seconds.amount)
    )


def _sharding_table(ways: Sequence[Sharding], look: Look) -> Table:
    """Return one row a way."""
    return {
        **parts_table(_way_bars(ways), look, _("way")),
        _("sent in a step"): [look.format_bytes(way.sent.amount) for way in ways],
        _("communication time"): [format_seconds(way.seconds.amount) for way in ways],
    }
