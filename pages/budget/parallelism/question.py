"""A question of the parallelism page; its answer is counted over the steps of a real ring."""

from typing import Final

import streamlit as st

from core.budget.parallel.ring import bytes_sent, ring_all_reduce
from core.language import _
from pages.budget.parallelism.inputs import ASK
from pages.shared.questions import Choice, predict_then_reveal

NUM_RANKS: Final = 8


@st.cache_data(max_entries=1, show_spinner=False)
def times_sent() -> float:
    """Return how many times its own array a rank of a ring sends in an all-reduce."""
    array = [1.0] * NUM_RANKS
    return bytes_sent(ring_all_reduce([array] * NUM_RANKS), rank=0) / (4 * len(array))


def ask_about_the_ring() -> None:
    """Ask how much an all-reduce sends."""
    answer = times_sent()
    wrong = {
        1.0: _("Once is what the reduce-scatter alone comes close to; the sums must go back too."),
        NUM_RANKS - 1.0: _(
            "That is sending the whole array to every other rank. The ring cuts it into chunks, "
            "and each link carries one chunk at a time."
        ),
        2.0 * NUM_RANKS: _("The bytes of a rank hardly grow with the ranks: that is the point."),
    }
    choices = sorted([*wrong, answer])
    predict_then_reveal(
        ASK.key("ring_bytes"),
        _(
            "{ranks} ranks all-reduce their gradients. How many times its own gradients does each "
            "rank send?"
        ).format(ranks=NUM_RANKS),
        [Choice(_("{times} times").format(times=f"{each:g}"), wrong.get(each)) for each in choices],
        _(
            "Counted over the steps of a ring: {times} times, 2 (N − 1)/N with N = {ranks}. The "
            "reduce-scatter and the all-gather each send all chunks but one; even with a thousand "
            "ranks it stays below 2."
        ).format(times=f"{answer:g}", ranks=NUM_RANKS),
    )  # fmt: skip
