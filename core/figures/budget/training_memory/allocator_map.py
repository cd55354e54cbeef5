"""The segments of the caching allocator: one bar each, cut into tensors and free blocks."""

from collections.abc import Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from core.budget.training.caching_allocator import AllocatorState
from core.figures.drawing import Drawing
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _
from core.units import MIB, ByteUnit, format_bytes

HEIGHT_PX: Final = 280
PRESENT_HEIGHT_PX: Final = 240
_NAMED: Final = 0.06  # of the width: a narrower block has no room for its name
_ROOM: Final = 1.02


def allocator_figure(
    state: AllocatorState, unit: ByteUnit, mode: Mode, *, present: bool = False
) -> go.Figure:
    """Return one bar for each segment, the first on top.

    Args:
        state: What the allocator holds.
        unit: "GiB" or "GB".
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    drawing = Drawing()
    widest = max((segment.num_bytes for segment in state.segments), default=MIB)
    for is_tensor in (True, False):
        _draw_blocks(drawing, state, widest, COLORS[mode], unit, is_tensor=is_tensor)
    if not state.segments:
        text = _("no segment: the driver has everything")
        drawing.note(xref="paper", yref="paper", x=0.5, y=0.5, text=text)
    layout = plotly_layout(mode, present=present)
    bare = {"zeroline": False, "showgrid": False, "fixedrange": True}
    across = {"title": {"text": "MiB"}, "range": [0, _ROOM * widest / MIB]}
    names = [segment_name(number) for number in range(1, len(state.segments) + 1)]
    in_order = {"categoryorder": "array", "categoryarray": names, "autorange": "reversed"}
    return drawing.figure(
        layout
        | {
            "template": "none",
            "barmode": "overlay",
            "xaxis": layout["xaxis"] | bare | across,
            "yaxis": layout["yaxis"] | bare | in_order | {"ticks": ""},
            "height": PRESENT_HEIGHT_PX if present else HEIGHT_PX,
            "margin": {"l": 8, "r": 24, "t": 34, "b": 8},
        }
    )


def _draw_blocks(
    drawing: Drawing,
    state: AllocatorState,
    widest: int,
    color: Mapping[str, str],
    unit: ByteUnit,
    *,
    is_tensor: bool,
) -> None:
    """Add all tensors, or all free blocks, as one trace."""
    rows = [row for row in _rows(state) if bool(row[3]) == is_tensor]
    drawing.bar(
        y=[label for label, *_rest in rows],
        base=[start / MIB for _label, start, *_rest in rows],
        x=[size / MIB for _label, _start, size, _name in rows],
        orientation="h",
        name=_("tensors") if is_tensor else _("free, but reserved"),
        text=[name if size >= _NAMED * widest else "" for _label, _start, size, name in rows],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        insidetextfont={"color": color["background"]},
        marker={
            "color": color["activations" if is_tensor else "surface"],
            "pattern": {"shape": "" if is_tensor else "/", "fgcolor": color["muted"]},
            "line": {"color": color["text"], "width": 1},
        },
        customdata=[
            f"{name or _('free')}: {format_bytes(size, unit)}" for *_place, size, name in rows
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _rows(state: AllocatorState) -> list[tuple[str, int, int, str]]:
    """Return each block with the name of its segment, its start, its size and its tensor."""
    rows = []
    for number, segment in enumerate(state.segments, 1):
        start = 0
        for block in segment.blocks:
            rows.append((segment_name(number), start, block.num_bytes, block.name))
            start += block.num_bytes
    return rows


def segment_name(number: int) -> str:
    """Return what a segment is called."""
    return _("segment {number}").format(number=number)


def allocator_alt(state: AllocatorState, unit: ByteUnit) -> str:
    """Return the picture in words."""
    return _(
        "{segments} segments of together {reserved}: {allocated} in tensors, {free} free but "
        "reserved, the largest free block {largest}."
    ).format(
        segments=len(state.segments),
        reserved=format_bytes(state.reserved, unit),
        allocated=format_bytes(state.allocated, unit),
        free=format_bytes(state.reserved - state.allocated, unit),
        largest=format_bytes(state.largest_free, unit),
    )


def allocator_table(state: AllocatorState, unit: ByteUnit) -> Mapping[str, Sequence[object]]:
    """Return one row for each block."""
    rows = _rows(state)
    return {
        _("segment"): [label for label, *_rest in rows],
        _("begins at"): [format_bytes(start, unit) for _label, start, *_rest in rows],
        _("bytes"): [format_bytes(size, unit) for _label, _start, size, _name in rows],
        _("tensor"): [name or _("free") for *_rest, name in rows],
    }
