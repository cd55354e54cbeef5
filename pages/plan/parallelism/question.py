"""The questions of the page: which stage holds most, and what a rank sends, counted on a ring."""

from typing import Final

import streamlit as st

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.parallel.ring import bytes_sent, ring_all_reduce
from core.budget.recipe import TrainingRecipe
from core.budget.training.memory import training_budget
from core.language import _
from pages.plan.parallelism.inputs import ASK
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look

NUM_RANKS: Final = 8
NUM_STAGES: Final = 4


@st.cache_data(max_entries=1, show_spinner=False)
def times_sent() -> float:
    """Return how many times its own array a rank of a ring sends in an all-reduce."""
    array = [1.0] * NUM_RANKS
    return bytes_sent(ring_all_reduce([array] * NUM_RANKS), rank=0) / (4 * len(array))


def ask_about_the_ring() -> None:
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


def ask_which_stage() -> None:
    held = stage_bytes()
    wrong = {
        NUM_STAGES - 1: _(
            "It has the head and the loss, but the activations of one micro-batch only: each goes "
            "back as soon as it has arrived."
        ),
        None: _("They have equally many layers, but not equally many micro-batches in flight."),
    }
    names = {number: _("stage {number}").format(number=number) for number in range(NUM_STAGES)}
    choices: list[int | None] = [held.index(max(held)), *wrong]
    predict_then_reveal(
        ASK.key("fullest_stage"),
        _(
            "Llama-3.1 70B in {stages} pipeline stages (1F1B), without activation checkpointing. "
            "Which stage uses the most memory?"
        ).format(stages=NUM_STAGES),
        [
            Choice(_("all equally") if each is None else names[each], wrong.get(each))
            for each in choices
        ],
        _(
            "Stage 0 has sent {stages} micro-batches on before the first comes back, and holds the "
            "activations of all of them: {first} on each device, stage {last} {least}."
        ).format(
            stages=NUM_STAGES,
            first=look().format_bytes(held[0]),
            last=NUM_STAGES - 1,
            least=look().format_bytes(held[-1]),
        ),
    )


@st.cache_data(max_entries=1, show_spinner=False)
def stage_bytes() -> list[float]:
    """Return what a device of each stage holds at its peak, in the state that the page opens in."""
    cluster = Cluster(
        device=DEVICES["h100-sxm"], num_devices=64, tensor=8, pipeline=NUM_STAGES,
        zero_stage=1, sequence_parallel=True,
    )  # fmt: skip
    recipe = TrainingRecipe(seq_len=8192, accumulation=8, step_kind="fused")
    budget = training_budget(MODELS["llama-3.1-70b"], recipe, cluster)
    return [stage.amount for stage in budget.stages]
