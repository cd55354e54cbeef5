"""Time: seconds of one step on each link, and who works when in a pipeline."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from core.budget.item import Item
from core.budget.parallel.communication import AXIS_NAMES
from core.budget.parallel.pipeline import Pass, Slot, most_held
from core.budget.parallel.ranks import Axis
from core.figures.budget.parallelism.frame import bare_rows, lying_bars, text_size
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _, ngettext
from core.units import format_bytes, format_percent, format_seconds

_ROW_HEIGHT: Final = 2.0  # of the text's size
_LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    "data": ("gradients", ""),
    "expert data": ("gradients", "/"),
    "tensor": ("weights", ""),
    "context": ("kv_cache", ""),
    "pipeline": ("optimizer", ""),
    "expert": ("activations", ""),
    "compute": ("other", ""),
}
_ROW_PX: Final = 34
_MOST_ROWS_PX: Final = 380
_PALER: Final = 0.6  # so much of its colour does the last virtual stage lack at most
_MOST_NUMBERED: Final = 600  # passes that still have room for a number
_PASSES: Final[tuple[tuple[Pass, str, str], ...]] = (
    ("forward", N_("forward pass"), ""),
    ("backward", N_("backward pass"), "/"),
)
Schedule = Sequence[Sequence[Slot]]


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkView:
    """What the picture of the links shows.

    Attributes:
        seconds: The tree of `exposed_seconds`, axis by axis.
        links: Axis -> message id of the link that is used.
        compute: Seconds of compute in a step.
    """

    seconds: Item
    links: Mapping[Axis, str]
    compute: Item


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    axis: str
    label: str
    item: Item
    text: str


def links_picture(view: LinkView, look: Look) -> Picture:
    """Return one bar a collective, with its band; compute comes first."""
    rows, size = list(_rows(view, look)), text_size(look)
    drawing = Drawing()
    drawing.bar(
        orientation="h",
        y=[row.label for row in rows],
        x=[row.item.amount for row in rows],
        marker={
            "color": [look.color(_LOOKS[row.axis][0]) for row in rows],
            "pattern": {"shape": [_LOOKS[row.axis][1] for row in rows]},
        },
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [row.item.drawn_high - row.item.amount for row in rows],
            "arrayminus": [row.item.amount - row.item.low for row in rows],
            "color": look.color("muted"),
        },
        customdata=[row.text for row in rows],
        hovertemplate="%{y}: %{customdata}<extra></extra>",
    )
    for row in rows:
        drawing.note(x=row.item.drawn_high, y=row.label, xanchor="left", text=f" {row.text}")
    figure = lying_bars(
        drawing,
        look,
        room=1.9 * (max(row.item.drawn_high for row in rows) or 1.0),
        height=round(len(rows) * size * _ROW_HEIGHT) + 3 * size,
        top=8,
        showlegend=False,
        bargap=0.4,
    )
    return Picture(figure=figure, alt=_links_sentence(rows), table=_links_table(rows))


def _rows(view: LinkView, look: Look) -> Iterator[_Row]:
    compute = format_seconds(view.compute.amount)
    yield _Row(axis="compute", label=_("compute"), item=view.compute, text=compute)
    names = {AXIS_NAMES[axis]: axis for axis in AXIS_NAMES}
    for group in view.seconds.children:
        axis = names[group.name]
        for line in group.children:
            text = _("{seconds}: {size}, {link}, {speed}/s").format(
                seconds=format_seconds(line.amount),
                size=look.format_bytes(line.values["num_bytes"]),
                link=_(view.links[axis]),
                speed=format_bytes(line.values["bytes_per_second"], "GB"),
            )
            yield _Row(axis=axis, label=_(line.name), item=line, text=text)


def _links_sentence(rows: Sequence[_Row]) -> str:
    if len(rows) == 1:
        return _("One device sends nothing; it computes for {seconds} in a step.").format(
            seconds=rows[0].text
        )
    return _("Communication time of a step on each link: {parts}.").format(
        parts=_("; ").join(f"{row.label} {row.text}" for row in rows)
    )


def _links_table(rows: Sequence[_Row]) -> Table:
    """Return one row a bar."""
    return {
        _("what"): [row.label for row in rows],
        _("least"): [format_seconds(row.item.low) for row in rows],
        _("seconds"): [format_seconds(row.item.amount) for row in rows],
        _("most"): ["?" if row.item.high == inf else format_seconds(row.item.high) for row in rows],
        _("how"): [row.text for row in rows],
    }


def schedule_picture(slots: Schedule, look: Look) -> Picture:
    """Return one row a stage with its forward and backward passes; a number names the micro-batch.

    Args:
        slots: The passes of each stage, as `core.budget.parallel.pipeline.schedule` returns them;
            the later of its virtual stages are paler.
        look: How the reader wants to see.
    """
    drawing, size = Drawing(), text_size(look)
    _draw_passes(drawing, slots, look)
    rows = list(range(len(slots)))
    figure = bare_rows(
        drawing,
        look,
        x={
            "title": {"text": _("time, in forward passes of one stage"), "standoff": 4},
            "range": [0, schedule_end(slots)],
        },
        y={
            "tickvals": rows,
            "ticktext": [_("stage {number}").format(number=row) for row in rows],
            "range": [len(slots) - 0.5, -0.5],
        },
        height=min(_MOST_ROWS_PX, len(slots) * _ROW_PX) + 6 * size,
        top=3 * size,
        barmode="overlay",
        bargap=0.12,
    )
    return Picture(figure=figure, alt=_schedule_sentence(slots), table=_schedule_table(slots))


def _draw_passes(drawing: Drawing, slots: Schedule, look: Look) -> None:
    numbered, ground = sum(map(len, slots)) <= _MOST_NUMBERED, look.color("background")
    hover = _("stage {stage}, micro-batch {number}")
    if num_virtual(slots) > 1:
        hover = _("stage {stage}, virtual stage {run}, micro-batch {number}")
    hover = hover.format(stage="%{y}", number="%{text}", run="%{customdata}")
    for direction, name, pattern in _PASSES:
        shown = [slot for row in slots for slot in row if slot.direction == direction]
        lines = {"shape": pattern, "fillmode": "overlay", "fgcolor": ground, "fgopacity": 0.3}
        drawing.bar(
            orientation="h",
            y=[slot.stage for slot in shown],
            base=[slot.start for slot in shown],
            x=[slot.end - slot.start for slot in shown],
            name=_(name),
            marker={
                "color": look.color(direction),
                "pattern": lines,
                "opacity": [1 - _PALER * slot.run / num_virtual(slots) for slot in shown],
                "line": {"color": ground, "width": 1},
            },
            text=[str(slot.microbatch) if numbered else "" for slot in shown],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"color": ground},
            customdata=[slot.run for slot in shown],
            hovertemplate=hover + "<extra>%{fullData.name}</extra>",
        )


def num_virtual(slots: Schedule) -> int:
    """Return how many virtual stages each stage has."""
    return 1 + max(slot.run for slot in slots[0])


def schedule_end(slots: Schedule) -> float:
    """Return when the last pass ends."""
    return max(row[-1].end for row in slots)


def idle_share(slots: Schedule) -> float:
    """Return the share of the time that a stage waits; all wait equally long."""
    busy = sum(slot.end - slot.start for slot in slots[0])
    return 1 - busy / schedule_end(slots)


def _schedule_sentence(slots: Schedule) -> str:
    virtual, held = num_virtual(slots), most_held(tuple(slots[0]))
    words = {
        "stages": stages_text(len(slots)),
        "batches": batches_text(len(slots[0]) // (2 * virtual)),
        "virtual": virtual,
        "idle": format_percent(idle_share(slots)),
        "held": batches_text(held),
        "part": f"{held / virtual:.4g}",
    }
    if virtual == 1:
        return _(
            "A pipeline of {stages} with {batches}, one forward and one backward pass in turn; "
            "each stage waits {idle} of the time. Stage 0 holds activations of {held} at most."
        ).format(**words)
    return _(
        "A pipeline of {stages}, each of {virtual} virtual stages that take turns, with {batches}; "
        "each stage waits {idle} of the time. Stage 0 holds as many activations as {part} "
        "micro-batches have, at most."
    ).format(**words)


def stages_text(count: int) -> str:
    """Return a number of stages in words: "1 stage", "4 stages"."""
    return ngettext("{count} stage", "{count} stages", count).format(count=count)


def batches_text(count: int) -> str:
    """Return a number of micro-batches in words."""
    return ngettext("{count} micro-batch", "{count} micro-batches", count).format(count=count)


def _schedule_table(slots: Schedule) -> Table:
    """Return one row a stage."""
    return {
        _("stage"): list(range(len(slots))),
        _("first pass starts"): [row[0].start for row in slots],
        _("last pass ends"): [row[-1].end for row in slots],
        _("micro-batches held at most"): [
            round(most_held(tuple(row)) / num_virtual(slots), 2) for row in slots
        ],
    }
