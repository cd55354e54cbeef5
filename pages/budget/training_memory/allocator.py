"""The allocator: allocated, reserved, and the holes between, line by line of a short program."""

from typing import Final

import streamlit as st

from core.budget.training.allocator_stories import CAPACITY, STORIES, Moment, replay
from core.budget.training.scenario import Scenario
from core.figures.budget.training_memory.allocator_map import (
    allocator_alt,
    allocator_figure,
    allocator_table,
)
from core.language import _
from core.units import format_bytes
from pages.budget.training_memory.pins import PAGE
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode, unit_system

MOST_LINES: Final = max(len(lines) for lines in STORIES.values())


def story_label(story: str) -> str:
    """Return the title of a program."""
    return {
        "two": _("two small tensors"),
        "del": _("del, views and empty_cache"),
        "step": _("one training step"),
        "grow": _("batches that grow"),
        "holes": _("holes"),
        "leftover": _("an earlier model"),
    }[story]


def show_allocator(_case: Scenario) -> None:
    """Show a program, and the allocator after the chosen line.

    Args:
        _case: The setting of the page; the programs have sizes of their own.
    """
    with st.container(key=f"{PAGE}_allocator", horizontal=True, vertical_alignment="bottom"):
        story = pickers.selectbox(
            PAGE, "story", _("Program"), tuple(STORIES), default="holes", labels=story_label
        )
        moments = replay(story)
        line = pickers.select_slider(
            PAGE,
            "line",
            _("After line"),
            tuple(range(1, MOST_LINES + 1)),
            default=MOST_LINES,
            labels=lambda line: f"{min(line, len(moments))} / {len(moments)}",
        )
    number = min(line, len(moments))
    moment = moments[number - 1]
    headline(_sentence(number, moment))
    picture, program = (st.container(), st.container()) if presenting() else st.columns([3, 2])
    with picture:
        _show_picture(moment)
    with program:
        _show_program(moments, number)


def _sentence(number: int, moment: Moment) -> str:
    unit, state = unit_system(), moment.state
    return _(
        "After line {number}: {allocated} allocated, {reserved} reserved, {idle} of it idle; "
        "peak {peak}"
    ).format(
        number=number,
        allocated=format_bytes(state.allocated, unit),
        reserved=format_bytes(state.reserved, unit),
        idle=format_bytes(state.reserved - state.allocated, unit),
        peak=format_bytes(state.peak, unit),
    )


def _show_picture(moment: Moment) -> None:
    unit = unit_system()
    show_chart(
        allocator_figure(moment.state, unit, theme_mode(), present=presenting()),
        key=f"{PAGE}_segments",
        alt=allocator_alt(moment.state, unit),
        table=allocator_table(moment.state, unit),
        file_name="allocator",
    )


def _show_program(moments: tuple[Moment, ...], number: int) -> None:
    """Show the lines with the present one marked, and the sentence about it."""
    marks = ["→" if place == number else " " for place in range(1, len(moments) + 1)]
    lines = [f"{mark} {each.line.code}" for mark, each in zip(marks, moments, strict=True)]
    st.code("\n".join(lines), language="python", wrap_lines=True)
    moment = moments[number - 1]
    st.markdown(_(moment.line.note))
    if moment.error:
        st.error(moment.error)
    st.caption(
        _(
            "An emulation of torch's rules on a device of {capacity}; "
            "`torch.cuda.memory_summary()` shows the real one."
        ).format(capacity=format_bytes(CAPACITY, unit_system()))
    )
