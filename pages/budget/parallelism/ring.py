"""An all-reduce, step by step, on small arrays."""

from typing import Final

import streamlit as st

from core.budget.parallel.ring import RingStep, bytes_sent, ring_all_reduce
from core.figures.budget.parallelism.ring_steps import ring_alt, ring_figure, ring_table, step_title
from core.language import _
from pages.budget.parallelism.inputs import PAGE
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

RANKS: Final = (2, 3, 4, 5, 6)
DEFAULT_RANKS: Final = 4
LAST_STEP: Final = 2 * (RANKS[-1] - 1)
STEP: Final = f"{PAGE}_ring_step"
CODE: Final = """
from core.budget.parallel.ring import bytes_sent, ring_all_reduce

num_ranks = {num_ranks}
arrays = [[(chunk + 1) * 10.0**rank for chunk in range(num_ranks)] for rank in range(num_ranks)]
steps = ring_all_reduce(arrays)
for number, step in enumerate(steps):
    print(number, step.phase, step.values[0], bytes_sent(steps[: number + 1], rank=0), "bytes sent")
"""


def ring_snippet() -> str:
    """Return Python that prints, step by step, what rank 0 of the ring holds and has sent."""
    return CODE.format(num_ranks=st.session_state.get(f"{PAGE}_ring_ranks", DEFAULT_RANKS))


def ring_steps(num_ranks: int) -> tuple[RingStep, ...]:
    """Return the steps for arrays whose digits tell which ranks are in a sum.

    Chunk c of rank r holds (c + 1) * 10**r: in 3303 the ranks 0, 2 and 3 are added up.
    """
    return ring_all_reduce(
        [[float((chunk + 1) * 10**rank) for chunk in range(num_ranks)] for rank in range(num_ranks)]
    )


def show_ring() -> None:
    """Show the ring after a step that the reader chooses."""
    with st.container(key="parallel_ring_inputs", horizontal=True, vertical_alignment="bottom"):
        num_ranks = pickers.segmented(
            PAGE, "ring_ranks", _("Ranks in the ring"), RANKS, default=DEFAULT_RANKS
        )
        steps = ring_steps(num_ranks)
        asked = pickers.slider(PAGE, "ring_step", _("After step"), 0, LAST_STEP, default=2, step=1)
        number = min(asked, len(steps) - 1)
        _show_next(number, len(steps) - 1)
    headline(_ring_headline(steps, number))
    if asked > number:
        st.caption(
            _("{ranks} ranks are done after {last} steps; shown is the last one.").format(
                ranks=num_ranks, last=number
            )
        )
    show_chart(
        ring_figure(steps, number, theme_mode(), present=presenting()),
        key=f"{PAGE}_ring",
        alt=ring_alt(steps, number),
        table=ring_table(steps, number),
        file_name="ring-all-reduce",
    )


def _show_next(number: int, last: int) -> None:
    st.button(
        _("Next step"),
        key="parallel_next",
        icon=":material/skip_next:",
        disabled=number == last,
        on_click=_go_on,
        args=(number,),
    )


def _go_on(number: int) -> None:
    st.session_state[STEP] = number + 1


def _ring_headline(steps: tuple[RingStep, ...], number: int) -> str:
    whole = 4 * len(steps[0].values)
    return _(
        "Step {number} of {last}, {title}; each rank has sent {sent} bytes, {ratio} times its array"
    ).format(
        number=number,
        last=len(steps) - 1,
        title=step_title(steps[number]),
        sent=bytes_sent(steps[: number + 1], rank=0),
        ratio=f"{bytes_sent(steps[: number + 1], rank=0) / whole:.3g}",
    )
