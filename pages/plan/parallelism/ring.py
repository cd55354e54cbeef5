"""An all-reduce, step by step, on small arrays."""

from typing import Final

import streamlit as st

from core.budget.parallel.ring import RingStep, bytes_sent, ring_all_reduce
from core.figures.budget.parallelism.ring import ring_picture, step_title
from core.language import _
from pages.plan.parallelism.inputs import ASK
from pages.shared.settings import locked, look
from pages.shared.tabbed_page import Chart, Shown

RANKS: Final = (2, 3, 4, 5, 6)
CODE: Final = """
N = {num_ranks}
held = [[(chunk + 1) * 10.0**rank for chunk in range(N)] for rank in range(N)]
for step in range(2 * (N - 1)):  # first the sums are made, then they go round
    adds = step < N - 1
    turn = step if adds else step - N  # the chunk that rank r passes on is r - turn
    sent = [held[rank][(rank - turn) % N] for rank in range(N)]  # all at the same time
    for rank in range(N):
        right, chunk = (rank + 1) % N, (rank - turn) % N
        held[right][chunk] = sent[rank] + (held[right][chunk] if adds else 0)
    phase = "reduce-scatter" if adds else "all-gather"
    print(step + 1, phase, held[0], 4 * (step + 1), "bytes sent, in fp32")
"""


def choose_ring() -> tuple[int, int]:
    """Return the ranks of the ring, and the step after which to look."""
    num_ranks = ASK.segmented("ring_ranks", _("Ranks in the ring"), RANKS, default=4)
    last = 2 * (num_ranks - 1)
    asked = ASK.slider("ring_step", _("After step"), 0, last, default=2, step=1)
    st.button(
        _("Next step"),
        key="parallel_next",
        icon=":material/skip_next:",
        disabled=locked() or asked >= last,
        on_click=ASK.set,
        args=("ring_step", asked + 1),
    )
    return num_ranks, asked


def ring(wanted: tuple[int, int]) -> Shown:
    """Show the ring after a step that the reader chooses."""
    num_ranks, number = wanted
    steps = ring_steps(num_ranks)
    picture = ring_picture(steps, number, look())
    return Shown(
        headline=_sentence(steps, number),
        charts=[Chart(picture=picture, file_name="ring-all-reduce")],
        code=CODE.format(num_ranks=num_ranks),
    )


def ring_steps(num_ranks: int) -> tuple[RingStep, ...]:
    """Return the steps for arrays whose digits tell which ranks are in a sum.

    Chunk c of rank r holds (c + 1) * 10**r: in 3303 the ranks 0, 2 and 3 are added up.
    """
    return ring_all_reduce(
        [[float((chunk + 1) * 10**rank) for chunk in range(num_ranks)] for rank in range(num_ranks)]
    )


def _sentence(steps: tuple[RingStep, ...], number: int) -> str:
    sent, whole = bytes_sent(steps[: number + 1], rank=0), 4 * len(steps[0].values)
    return _(
        "Step {number} of {last}, {title}; each rank has sent {sent} bytes, {ratio} times its array"
    ).format(
        number=number,
        last=len(steps) - 1,
        title=step_title(steps[number]),
        sent=sent,
        ratio=f"{sent / whole:.3g}",
    )
