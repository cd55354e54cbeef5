"""A pipeline in time: forward and backward passes of every stage, and the gaps between them."""

from collections.abc import Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from core.budget.parallel.pipeline import Pass, Slot, most_held
from core.figures.drawing import Drawing
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import N_, _, ngettext
from core.units import format_percent

_ROW_PX: Final = 34
_MOST_ROWS_PX: Final = 380
_MOST_NUMBERED: Final = 600  # passes that still have room for a number
NAMES: Final[Mapping[Pass, str]] = {
    "forward": N_("forward pass"),
    "backward": N_("backward pass"),
}
Schedule = Sequence[Sequence[Slot]]


def schedule_figure(slots: Schedule, mode: Mode, *, present: bool = False) -> go.Figure:
    """Return one row a stage; a number names the micro-batch."""
    layout = plotly_layout(mode, present=present)
    drawing = Drawing()
    numbered = sum(map(len, slots)) <= _MOST_NUMBERED
    for direction, pattern in (("forward", ""), ("backward", "/")):
        drawing.bar(**_passes(slots, direction, pattern, COLORS[mode], numbered=numbered))
    size = int(layout["font"]["size"])
    bare = {"showgrid": False, "zeroline": False, "fixedrange": True}
    rows = list(range(len(slots)))
    axes = {
        "xaxis": layout["xaxis"]
        | bare
        | {"title": {"text": _("time, in forward passes of one stage"), "standoff": 4}}
        | {"range": [0, schedule_end(slots)]},
        "yaxis": layout["yaxis"]
        | bare
        | {"tickvals": rows, "range": [len(slots) - 0.5, -0.5]}
        | {"ticktext": [_("stage {number}").format(number=row) for row in rows]},
        "height": min(_MOST_ROWS_PX, len(slots) * _ROW_PX) + 6 * size,
        "margin": {"l": 8, "r": 8, "t": 3 * size, "b": 8},
    }
    return drawing.figure(
        layout | axes | {"template": "none", "barmode": "overlay", "bargap": 0.12}
    )


def _passes(
    slots: Schedule, direction: str, pattern: str, color: Mapping[str, str], *, numbered: bool
) -> dict[str, object]:
    shown = [slot for row in slots for slot in row if slot.direction == direction]
    name = NAMES["forward" if direction == "forward" else "backward"]
    return {
        "orientation": "h",
        "y": [slot.stage for slot in shown],
        "base": [slot.start for slot in shown],
        "x": [slot.end - slot.start for slot in shown],
        "name": _(name),
        "marker": _look(direction, pattern, color),
        "text": [str(slot.microbatch) if numbered else "" for slot in shown],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "textfont": {"color": color["background"]},
        "hovertemplate": _("stage {stage}, micro-batch {number}").format(
            stage="%{y}", number="%{text}"
        )
        + "<extra>%{fullData.name}</extra>",
    }


def _look(direction: str, pattern: str, color: Mapping[str, str]) -> dict[str, object]:
    background = color["background"]
    lines = {"shape": pattern, "fillmode": "overlay", "fgcolor": background, "fgopacity": 0.3}
    return {
        "color": color[direction],
        "pattern": lines,
        "line": {"color": background, "width": 1},
    }


def schedule_end(slots: Schedule) -> float:
    """Return when the last pass ends."""
    return max(row[-1].end for row in slots)


def idle_share(slots: Schedule) -> float:
    """Return the share of the time that a stage waits; all wait equally long."""
    busy = sum(slot.end - slot.start for slot in slots[0])
    return 1 - busy / schedule_end(slots)


def schedule_alt(slots: Schedule) -> str:
    """Return the picture in words."""
    return _(
        "A pipeline of {stages} with {batches}, one forward and one backward pass in turn; each "
        "stage waits {idle} of the time. Stage 0 holds activations of {held} at most."
    ).format(
        stages=stages_text(len(slots)),
        batches=batches_text(len(slots[0]) // 2),
        idle=format_percent(idle_share(slots)),
        held=batches_text(most_held(tuple(slots[0]))),
    )


def stages_text(count: int) -> str:
    """Return a number of stages in words: "1 stage", "4 stages"."""
    return ngettext("{count} stage", "{count} stages", count).format(count=count)


def batches_text(count: int) -> str:
    """Return a number of micro-batches in words."""
    return ngettext("{count} micro-batch", "{count} micro-batches", count).format(count=count)


def schedule_table(slots: Schedule) -> Mapping[str, Sequence[object]]:
    """Return one row a stage."""
    return {
        _("stage"): list(range(len(slots))),
        _("first pass starts"): [row[0].start for row in slots],
        _("last pass ends"): [row[-1].end for row in slots],
        _("micro-batches held at most"): [most_held(tuple(row)) for row in slots],
    }
