"""The allocator: allocated, reserved, and the holes between, line by line of a short program."""

from collections.abc import Sequence
from functools import partial
from typing import Final

import streamlit as st

from core.budget.training.allocator_stories import CAPACITY, STORIES, Moment, replay
from core.figures.budget.training_memory.allocator import allocator_picture
from core.language import N_, _
from pages.plan.training_memory.inputs import ASK
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

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
    """Show a program, and the allocator after the chosen line."""
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
    """Return what is allocated, what is reserved, and what was the most."""
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
