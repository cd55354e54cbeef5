"""The allocator: allocated, reserved, and the holes between, line by line of a short program."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from core.budget.training.allocator_stories import CAPACITY, STORIES, Moment, replay
from core.budget.training.caching_allocator import AllocatorState
from core.figures.budget.frames import rows_of_bars
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.units import MIB
from pages.plan.training_memory.inputs import ASK
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

_HEIGHT_PX: Final = {False: 280, True: 240}  # on a projector True
_NAMED: Final = 0.06  # of the width: a narrower block has no room for its name
_ROOM: Final = 1.02


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of a segment; without a name it is free."""

    segment: str
    start: int
    num_bytes: int
    name: str


def allocator_picture(state: AllocatorState, look: Look) -> Picture:
    blocks, drawing = _blocks(state), Drawing()
    widest = max((segment.num_bytes for segment in state.segments), default=MIB)
    _draw_blocks(drawing, [each for each in blocks if each.name], widest, look, tensors=True)
    _draw_blocks(drawing, [each for each in blocks if not each.name], widest, look, tensors=False)
    if not state.segments:
        text = _("no segment: the driver has everything")
        drawing.note(xref="paper", yref="paper", x=0.5, y=0.5, text=text)
    names = [_segment_name(number) for number in range(1, len(state.segments) + 1)]
    figure = rows_of_bars(
        drawing, look, num_rows=0, barmode="overlay", bargap=0.2,
        x={"title": {"text": "MiB"}, "range": [0, _ROOM * widest / MIB], "showgrid": False},
        y={"categoryorder": "array", "categoryarray": names, "ticks": ""},
        height=_HEIGHT_PX[look.present], margin={"l": 8, "r": 24, "t": 34, "b": 8},
    )  # fmt: skip
    return Picture(figure=figure, alt=_sentence(state, look), table=_table(blocks, look))


def _blocks(state: AllocatorState) -> list[_Block]:
    found = []
    for number, segment in enumerate(state.segments, 1):
        start = 0
        for block in segment.blocks:
            found.append(_Block(_segment_name(number), start, block.num_bytes, block.name))
            start += block.num_bytes
    return found


def _segment_name(number: int) -> str:
    return _("segment {number}").format(number=number)


def _draw_blocks(
    drawing: Drawing, blocks: Sequence[_Block], widest: int, look: Look, *, tensors: bool
) -> None:
    drawing.bar(
        y=[each.segment for each in blocks], base=[each.start / MIB for each in blocks],
        x=[each.num_bytes / MIB for each in blocks], orientation="h",
        name=_("tensors") if tensors else _("free, but reserved"),
        text=[each.name if each.num_bytes >= _NAMED * widest else "" for each in blocks],
        textposition="inside", insidetextanchor="middle", textangle=0,
        insidetextfont={"color": look.color("background")},
        marker={
            "color": look.color("activations" if tensors else "surface"),
            "pattern": {"shape": "" if tensors else "/", "fgcolor": look.color("muted")},
            "line": {"color": look.color("text"), "width": 1},
        },
        customdata=[
            f"{each.name or _('free')} · {look.format_bytes(each.num_bytes)}" for each in blocks
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip


def _sentence(state: AllocatorState, look: Look) -> str:
    return _(
        "{segments} segments of together {reserved}: {allocated} in tensors, {free} free but "
        "reserved, the largest free block {largest}."
    ).format(
        segments=len(state.segments),
        reserved=look.format_bytes(state.reserved),
        allocated=look.format_bytes(state.allocated),
        free=look.format_bytes(state.reserved - state.allocated),
        largest=look.format_bytes(state.largest_free),
    )


def _table(blocks: Sequence[_Block], look: Look) -> Table:
    return {
        _("segment"): [each.segment for each in blocks],
        _("begins at"): [look.format_bytes(each.start) for each in blocks],
        _("bytes"): [look.format_bytes(each.num_bytes) for each in blocks],
        _("tensor"): [each.name or _("free") for each in blocks],
    }


TITLES: Final = {
    "two": N_("two small tensors"),
    "del": N_("del, views and empty_cache"),
    "step": N_("one training step"),
    "grow": N_("batches that grow"),
    "holes": N_("holes"),
    "leftover": N_("an earlier model"),
}

_CODE: Final = """
from core.budget.training.allocator_stories import replay

for moment in replay("{story}")[:{number}]:
    state = moment.state
    print(moment.line.code)
    held = f"{{state.allocated:,}} allocated, {{state.reserved:,}} reserved"
    print(f"    bytes: {{held}}, peak {{state.peak:,}}")
"""  # the emulation is core's: no GPU need be here


def choose_line() -> tuple[Sequence[Moment], int]:
    """Return the moments of a program, and the number of the line after which to look."""
    story = ASK.selectbox(
        "story",
        _("Program"),
        tuple(STORIES),
        default="holes",
        labels=lambda story: _(TITLES[story]),
    )
    moments = replay(story)
    last = len(moments)
    line = ASK.slider("line", _("After line"), 1, last, default=last, step=1)
    return moments, line


def allocator(wanted: tuple[Sequence[Moment], int]) -> Shown:
    moments, number = wanted
    moment = moments[number - 1]
    picture = allocator_picture(moment.state, look())
    return Shown(
        headline=sentence(number, moment),
        charts=[Chart(picture=picture, file_name="allocator")],
        beside=partial(_show_program, moments, number),
        widths=(3, 2),
        code=_CODE.format(story=ASK.used("story"), number=number),
    )


def sentence(number: int, moment: Moment) -> str:
    state = moment.state
    return _(
        "After line {number}: {allocated} allocated, {reserved} reserved, {idle} of it idle; "
        "peak {peak}"
    ).format(
        number=number,
        allocated=look().format_bytes(state.allocated),
        reserved=look().format_bytes(state.reserved),
        idle=look().format_bytes(state.reserved - state.allocated),
        peak=look().format_bytes(state.peak),
    )


def _show_program(moments: Sequence[Moment], number: int) -> None:
    """Show the lines with the present one marked, and the sentence about it."""
    marks = ["→" if place == number else " " for place in range(1, len(moments) + 1)]
    lines = [f"{mark} {each.line.code}" for mark, each in zip(marks, moments, strict=True)]
    moment = moments[number - 1]
    with st.container():  # one below the other on a projector too
        st.code("\n".join(lines), language="python", wrap_lines=True)
        st.markdown(_(moment.line.note))
        if moment.error:
            st.error(moment.error)
        st.caption(
            _(
                "An emulation of torch's rules on a device of {capacity}; "
                "`torch.cuda.memory_summary()` shows the real one."
            ).format(capacity=look().format_bytes(CAPACITY))
        )
