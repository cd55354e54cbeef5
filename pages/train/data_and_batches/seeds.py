"""The same seeds, the same losses: one seed for each use of chance."""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.figures.train.curves import Axes, curves_picture
from core.language import N_, _
from core.train.learning.seeds import USES, Seeds, first_difference, losses_of
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown
from pages.train.data_and_batches.inputs import ASK

FIRST: Final = {"random": 1, "numpy": 2, "torch": 3}
_SAME: Final = {
    "random": N_("random.Random: same order"),
    "numpy": N_("numpy: same noise"),
    "torch": N_("torch: same weights"),
}
_CODE: Final = """
import random
import numpy as np
import torch

def draw(order_seed, noise_seed, weight_seed):
    return (random.Random(order_seed).sample(range(64), 64),
            np.random.default_rng(noise_seed).normal(0, 0.1, 64).tolist(),
            torch.randn(16, generator=torch.Generator().manual_seed(weight_seed)).tolist())

first, second = draw{first}, draw{second}
for name, one, other in zip(("order", "noise", "weights"), first, second):
    print(name, "same" if one == other else "different")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Again:
    """Two runs: the seeds of the first, and of the second."""

    first: Seeds
    second: Seeds
    num_steps: int
    changed: tuple[str, ...]


def choose_seeds() -> Again:
    """Show which seeds the second run has again."""
    same = {name: ASK.toggle(f"same_{name}", _(_SAME[name]), default=True) for name in USES}
    steps = ASK.slider("steps", _("Steps"), 8, 200, default=80, step=8)
    number = ASK.number("other_seed", _("Another seed"), 10, 9999, default=1337, step=1)
    second = {name: FIRST[name] if same[name] else number for name in USES}
    return Again(
        first=Seeds(**FIRST), second=Seeds(**second), num_steps=steps,
        changed=tuple(name for name in USES if not same[name]),
    )  # fmt: skip


@st.cache_data(max_entries=64, show_spinner=False)
def _losses(seeds: Seeds, num_steps: int) -> tuple[float, ...]:
    return losses_of(seeds, num_steps)


def seeds_tab(again: Again) -> Shown:
    """Draw the losses of both runs and say where they part."""
    first, second = (_losses(seeds, again.num_steps) for seeds in (again.first, again.second))
    axes = Axes(x=_("step"), y=_("loss"), log=True)
    curves = {_("first run"): first, _("second run"): second}
    seeds = [tuple(getattr(each, use) for use in USES) for each in (again.first, again.second)]
    return Shown(
        headline=_headline(again, first_difference(first, second)),
        charts=[Chart(picture=curves_picture(curves, axes, look()), file_name="seeds")],
        notes=[
            _("A small regression on the CPU, run twice. Python's random draws the order of the "
              "items, numpy the noise of the data, torch the weights: seeding one leaves the "
              "others as they are."),
            _("One seed for each use: then a run with other weights still sees the same data, and "
              "what differs is known. On a GPU, kernels that add in no fixed order differ in spite "
              "of seeds, unless torch.use_deterministic_algorithms(True) forbids them."),
        ],
        code=_CODE.format(first=seeds[0], second=seeds[1]),
    )  # fmt: skip


def _headline(again: Again, parted: int | None) -> str:
    if parted is None:
        return _("The same three seeds: all {count} losses are equal, bit for bit").format(
            count=again.num_steps
        )
    return _("Another seed for {names}: the losses differ from step {step} on").format(
        names=_(", ").join(again.changed), step=parted
    )
