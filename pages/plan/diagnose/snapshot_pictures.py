"""Pictures of memory snapshots: the recorded time or, without one, the segments."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.budget.diagnosis.snapshot.answer import CATEGORIES, Category, Point, Snapshot
from core.figures.budget.frames import NAMED_BAR, framed, lying_bars, name_above, text_size
from core.figures.budget.stacked_parts import capacity_line, legend_below
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.units import MIB

LOOKS: Final[Mapping[Category, tuple[str, str]]] = {
    "before": ("other", "."), "setup": ("setup", ""), "optimizer": ("optimizer", ""),
    "forward": ("forward", ""), "backward": ("backward", ""), "other": ("temporary", ""),
    "unknown": ("muted", "x"),
}  # fmt: skip
"""Where a block was allocated -> its colour's meaning and its pattern; from below."""
PARTS: Final = {
    "active": (N_("in tensors"), "muted", ""),
    "fragmented": (N_("idle, between tensors"), "temporary", "/"),
    "in_empty": (N_("idle, in empty segments"), "other", "-"),
}
Sides = Mapping[str, Snapshot]  # "A" and "B"
Words = tuple[str, Table]  # the alt text and the table of a picture
Bar = tuple[str, str, str, str, int]  # row, message id, colour's meaning, pattern, bytes
HEIGHT_PX: Final = 400  # on a phone, and in large letters, half of it are the names
_ROOM: Final = 1.15  # of the highest thing: its name stands above it
_STEPS: Final = (0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200)  # of an axis, in its unit
_MOST_STEPS: Final = 6
_FEWEST: Final = 6  # events on the axis: fewer whole numbers would stand there twice
_READABLE: Final = 0.12  # of the axis: as wide as an amount in a bar


def history_picture(told: Snapshot, planned: float, look: Look) -> Picture:
    """Return what was in tensors by category, what was reserved, and the peak."""
    drawing, points = Drawing(), told.points
    events = [point.event for point in points]
    for name in LOOKS:
        if any(point.by_category[name] for point in points):
            _draw_area(drawing, name, points, look)
    drawing.scatter(
        x=events, y=[point.reserved for point in points], mode="lines",
        name=_("reserved"), line={"color": look.color("text"), "width": 2, "shape": "hv"},
        customdata=[look.format_bytes(point.reserved) for point in points],
        hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
    )  # fmt: skip
    _draw_peak(drawing, told, points[-1].event, look.format_bytes(told.peak.active), look)
    x = {"title": {"text": _("events of the allocator, in order")}, "tickformat": ",d",
         "range": [0, max(events[-1], _FEWEST)]}  # fmt: skip
    parts = [f"{_(CATEGORIES[name])} {look.format_bytes(told.peak.by_category[name])}"
             for name in LOOKS if told.peak.by_category[name]]  # fmt: skip
    text = _("Bytes in tensors over {events} events: at the start {start}, at the peak {peak} "
             "({parts}) with {reserved} reserved, at the end {end}.")  # fmt: skip
    alt = text.format(
        events=f"{sum(told.actions.values()):,}", start=look.format_bytes(points[0].active),
        peak=look.format_bytes(told.peak.active), parts=_(", ").join(parts),
        reserved=look.format_bytes(told.peak.reserved), end=look.format_bytes(points[-1].active),
    )  # fmt: skip
    table, top = _moments(told, look), max(top_of(told), planned)
    return _over_time(drawing, top, planned, x, (alt, table), look)


def _over_time(
    drawing: Drawing, top: float, planned: float, x: Mapping[str, Any], words: Words, look: Look
) -> Picture:
    """Return the lines above their axis, up to `top` bytes, and the plan's peak across them."""
    if planned:
        capacity_line(drawing, planned, _plan_words(planned, look), look, flat=False)
    figure = framed(
        drawing, look, height=HEIGHT_PX, hovermode="x",
        x={"ticklabelstandoff": 5, **x},  # on a phone both zeros would lie on each other
        legend=legend_below(look) | {"maxheight": 0.8},
        y=_axis_of_bytes(_ROOM * top, look), margin={"l": 8, "r": 24, "t": 8, "b": 8},
    )  # fmt: skip
    return Picture(figure=figure, alt=words[0], table=words[1])


def _axis_of_bytes(end: float, look: Look) -> Mapping[str, Any]:
    """Return an axis of bytes up to `end`; its numbers are in the unit that keeps them short."""
    unit = look.format_bytes(max(end, MIB)).split()[-1]
    one = (1024 if "i" in unit else 1000) ** ("KMGTP".index(unit[0].upper()) + 1)
    step = next((each for each in _STEPS if end <= _MOST_STEPS * each * one), _STEPS[-1])
    ticks = [number * step for number in range(int(end / one / step) + 1)]
    return {"title": {"text": unit}, "range": [0, end], "tickvals": [one * each for each in ticks],
            "ticktext": [f"{each:g}" for each in ticks]}  # fmt: skip


def top_of(told: Snapshot) -> int:
    """Return the most bytes that were reserved at one time."""
    return max([told.reserved, *(point.reserved for point in told.points)])


def _draw_area(drawing: Drawing, name: Category, points: Sequence[Point], look: Look) -> None:
    meaning, pattern = LOOKS[name]
    color, amounts = look.color(meaning), [point.by_category[name] for point in points]
    drawing.scatter(
        x=[point.event for point in points], y=amounts, stackgroup="memory", mode="lines",
        name=_(CATEGORIES[name]),
        line={"color": color, "width": 0.5, "shape": "hv"},
        fillpattern={"shape": pattern, "fgcolor": color, "fillmode": "overlay", "size": 6},
        customdata=[f"{look.format_bytes(amount)}, {point.micros / 1000:,.1f} ms"
                    for point, amount in zip(points, amounts, strict=True)],
        hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
    )  # fmt: skip


def _draw_peak(
    drawing: Drawing, told: Snapshot, end: float, words: str, look: Look, *, below: int = 24
) -> None:
    """Name the peak in a picture whose axis ends at `end`, so many px below it."""
    peak, last = told.peak, max(told.points[-1].event, 1)
    is_right = peak.event > last / 2
    drawing.note(
        x=peak.event / last * end, y=peak.active, showarrow=True,
        text=_("peak {bytes}").format(bytes=words), arrowcolor=look.color("text"),
        ax=-70 if is_right else 70, ay=below, xanchor="right" if is_right else "left",
        bgcolor=look.color("background"),
    )  # fmt: skip


def _plan_words(planned: float, look: Look) -> str:
    return _("the plan's peak in tensors: {bytes}").format(bytes=look.format_bytes(planned))


def _moments(told: Snapshot, look: Look) -> Table:
    """Return each category at the start, at the peak and at the end."""
    moments = (told.points[0], told.peak, told.points[-1])
    rows = [name for name in LOOKS if any(point.by_category[name] for point in moments)]
    columns = {_("in tensors from"): [*(_(CATEGORIES[name]) for name in rows), _("reserved")]}
    titles = (_("at the start"), _("at the peak"), _("at the end"))
    for title, point in zip(titles, moments, strict=True):
        amounts = [*(point.by_category[name] for name in rows), point.reserved]
        columns[title] = [look.format_bytes(amount) for amount in amounts]
    return columns


def segments_picture(told: Snapshot, planned: float, look: Look) -> Picture:
    """Return what the segments show of one moment: reserved memory, and who asked for tensors."""
    rows = _reserved_rows(_("reserved"), told)
    rows += [(_("in tensors from"), CATEGORIES[name], *looks, told.peak.by_category[name])
             for name, looks in LOOKS.items()]  # fmt: skip
    rows = [each for each in rows if each[-1]]
    titles, labels = [each[0] for each in rows], [_(each[1]) for each in rows]
    sizes = [look.format_bytes(each[-1]) for each in rows]
    alt = _("{segments} segments of {reserved} when the snapshot was taken: {parts}.").format(
        segments=f"{told.num_segments:,}", reserved=look.format_bytes(told.reserved),
        parts=_(", ").join(map(" ".join, zip(labels, sizes, strict=True))))  # fmt: skip
    table = {_("of"): titles, _("part"): labels, _("bytes"): sizes}
    return _rows_of_bytes(rows, planned, (alt, table), look)


def _reserved_rows(row: str, told: Snapshot) -> list[Bar]:
    return [(row, *words, getattr(told, name)) for name, words in PARTS.items()]


def _rows_of_bytes(rows: Sequence[Bar], planned: float, words: Words, look: Look) -> Picture:
    drawing, sums, ends, labels = Drawing(), Counter[str](), Counter[str](), set[str]()
    for title, *_words, size in rows:
        sums[title] += size
    reach = _ROOM * max(planned, *sums.values())
    for title, label, meaning, pattern, size in rows:
        drawing.bar(
            x=[size], y=[title], orientation="h", name=_(label),
            showlegend=label not in labels,
            marker={"color": look.color(meaning), "pattern": {"shape": pattern}},
            hovertemplate=f"{_(label)}: {look.format_bytes(size)}<extra></extra>",
        )  # fmt: skip
        labels.add(label)
        ends[title] += size
        if size > _READABLE * reach:  # on a ground: between lines nobody reads it
            middle, ground = ends[title] - size / 2, look.color("background")
            drawing.note(x=middle, y=title, text=look.format_bytes(size), bgcolor=ground)
    if planned:
        text = _plan_words(planned, look)
        capacity_line(drawing, planned, text, look, flat=True, longest=reach)
    names = [f"<b>{title}</b>" for title in sums]
    figure = lying_bars(
        drawing, look, room=reach, y=name_above(drawing, names, look), bargap=1 - NAMED_BAR,
        height=HEIGHT_PX, top=2 * text_size(look), right=24,
        legend=legend_below(look) | {"xref": "container"},
    )  # fmt: skip
    return Picture(figure=figure, alt=words[0], table=words[1])


def lines_of_two(both: Sides, planned: float, words: Words, look: Look) -> Picture:
    """Return what was in tensors and reserved in both recordings, each as long as the picture."""
    drawing, highest = Drawing(), max(both, key=lambda side: both[side].peak.active)
    for color, dashes, (side, told) in zip(
        ("side_a", "side_b"), (("solid", "dot"), ("dash", "dashdot")), both.items(), strict=True
    ):
        last = max(told.points[-1].event, 1)
        held = {_("in tensors"): [point.active for point in told.points],
                _("reserved"): [point.reserved for point in told.points]}  # fmt: skip
        for dash, (label, amounts) in zip(dashes, held.items(), strict=True):
            drawing.scatter(
                x=[point.event / last for point in told.points], mode="lines",
                y=amounts, name=f"{side} {label}",
                line={"color": look.color(color), "width": 2, "shape": "hv", "dash": dash},
                customdata=[look.format_bytes(amount) for amount in amounts],
                hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
            )  # fmt: skip
        # The headline has their bytes: long words would hide the lines, and one the other.
        _draw_peak(drawing, told, 1, side, look, below=-24 if side == highest else 24)
    top = max([planned, *map(top_of, both.values())])
    x = {"title": {"text": _("share of the recorded events")}, "tickformat": "~%", "range": [0, 1]}
    return _over_time(drawing, top, planned, x, words, look)


def bars_of_two(both: Sides, planned: float, words: Words, look: Look) -> Picture:
    """Return what both had reserved when they were taken."""
    rows = [bar for side, told in both.items() for bar in _reserved_rows(side, told) if bar[-1]]
    return _rows_of_bytes(rows, planned, words, look)
