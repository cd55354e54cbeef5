"""Labs of small updates: a weight that is kept in three ways, and many that are rounded by chance.

They show why weights that are trained in 16 bits have a master copy in 32, or round by chance.
"""

from dataclasses import asdict, dataclass
from typing import Final, cast

import numpy as np
import streamlit as st

from core.dtypes import FORMATS, FloatFormat
from core.dtypes.labs import (
    StochasticUpdates,
    WeightUpdates,
    half_gap_above,
    stochastic_updates,
    weight_updates,
)
from core.figures.dtypes.low_precision_training.updates import stochastic_picture, updates_picture
from core.figures.dtypes.written import number, percent, short
from core.language import N_, _, ngettext
from pages.dtypes.low_precision_training.inputs import ASK, FORMAT_NAMES, choose_format
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

NAMES: Final = FORMAT_NAMES[:3]
UPDATES: Final = (0.0001, 0.0002, 0.0003, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.03)
STEPS: Final = (10, 20, 30, 50, 100, 200, 300, 500, 1000, 2000, 3000)
WAYS: Final = {
    "nearest": N_("nearest"),
    "stochastic": N_("stochastic"),
    "master": N_("FP32 master"),
}
WEIGHTS: Final = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 400)
NUM_STEPS: Final = 1000  # of many weights
CODES: Final = {
    "nearest": """
import torch

weight = torch.tensor(1.0, dtype=torch.{name})
for _ in range({steps}):
    weight = (weight.float() + {update!r}).to(torch.{name})
print(weight.item())
""",
    "master": """
import torch

master = torch.tensor(1.0)  # float32
for _ in range({steps}):
    master += {update!r}
weight = master.to(torch.{name})
print(weight.item(), master.item())
""",
    "stochastic": """
import numpy as np

from core.dtypes import FORMATS
from core.dtypes.labs import weight_updates

rng = np.random.default_rng(0)
path = weight_updates(1.0, {update!r}, {steps}, FORMATS[{name!r}], "stochastic", rng=rng)
print(path.stored[-1])
""",
}
CODE_OF_MANY: Final = """
import numpy as np

rng = np.random.default_rng(0)
weights = np.ones({count})
for _ in range({steps}):
    updated = (weights.astype(np.float32) + np.float32({update!r})).astype(np.float64)
    gap = 2.0 ** (np.floor(np.log2(updated)) - {mantissa_bits})  # of the mantissa in {name}
    below = np.floor(updated / gap) * gap
    weights = below + gap * (rng.random({count}) < (updated - below) / gap)
print(weights.mean())
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """By how much a weight is raised, how often, and how it is kept."""

    name: str
    way: str
    update: float
    steps: int


@st.cache_data(max_entries=64, show_spinner=False)
def one_weight(update: float, steps: int, name: str) -> dict[str, WeightUpdates]:
    """Return the path of a weight that begins at 1, in each way."""
    fmt = FORMATS[name]
    return {
        "nearest": weight_updates(1.0, update, steps, fmt),
        "stochastic": weight_updates(
            1.0, update, steps, fmt, "stochastic", rng=np.random.default_rng(0)
        ),
        "master": weight_updates(1.0, update, steps, fmt, master=True),
    }


@st.cache_data(max_entries=64, show_spinner=False)
def many_weights(update: float, name: str, count: int) -> StochasticUpdates:
    """Return the paths of weights that begin at 1."""
    rng = np.random.default_rng(0)
    return stochastic_updates(1.0, update, NUM_STEPS, FORMATS[name], count, rng)


def choose_updates() -> Asked:
    """Show the inputs of the lab of one weight and return what they say."""
    return Asked(
        update=ASK.select_slider("update_size", _("Update per step"), UPDATES, default=0.001),
        steps=ASK.select_slider(
            "update_steps", _("Steps"), STEPS, default=1000, labels="{:,}".format
        ),
        name=choose_format("update_format", names=NAMES),
        way=ASK.segmented(
            "update_way",
            _("Weight storage"),
            tuple(WAYS),
            default="nearest",
            labels=lambda way: _(WAYS[way]),
        ),
    )


def updates(asked: Asked) -> Shown:
    """Show a weight that is raised step by step, in each way."""
    ways = one_weight(asked.update, asked.steps, asked.name)
    picture = updates_picture(ways, asked.way, look())
    return Shown(
        headline=updates_sentence(ways[asked.way], asked.way, asked.update),
        charts=[Chart(picture=picture, file_name="weight-updates")],
        code=CODES[asked.way].format(**asdict(asked)),
    )


def updates_sentence(path: WeightUpdates, way: str, update: float) -> str:
    """Return where the weight ends."""
    steps = path.stored.size - 1
    words = {
        "steps": f"{steps:,}",
        "update": number(update),
        "format": short(path.format),
        "weight": number(float(path.stored[-1])),
        "exact": number(float(path.exact[-1])),
        "half": number(path.half_gap, 3),
    }
    if path.num_lost == steps:
        text = _unmoved(way)
        words["chance"] = percent(update / (2 * path.half_gap))
        words["reached"] = number(float((path.exact if path.master is None else path.master)[-1]))
    elif way == "master":
        text = _("1 + {steps} × {update} with an FP32 master ends at {weight}; exact is {exact}.")
    elif way == "stochastic":
        text = _(
            "1 + {steps} × {update} in {format}, rounded stochastically, ends at {weight}; "
            "exact is {exact}."
        )
    else:
        text = _("1 + {steps} × {update} in {format} ends at {weight}; exact is {exact}.")
    return text.format(**words)


def _unmoved(way: str) -> str:
    """Return why no step moved the weight, with places for the numbers."""
    return {
        "nearest": _(
            "1 + {steps} × {update} in {format} stays {weight}: each update is below half the "
            "gap, {half}."
        ),
        "stochastic": _(
            "1 + {steps} × {update} in {format} stays {weight}: a step moves it with a chance of "
            "{chance}, and none did."
        ),
        "master": _(
            "1 + {steps} × {update}: the FP32 master has come to {reached}, its copy in {format} "
            "stays {weight}. Half the gap is {half}."
        ),
    }[way]


def choose_stochastic() -> tuple[float, StochasticUpdates]:
    """Show the inputs of the lab of many weights; return the update and what becomes of them."""
    update = ASK.select_slider("chance_update", _("Update per step"), UPDATES[:-1], default=0.001)
    count = ASK.select_slider("chance_weights", _("Number of weights"), WEIGHTS, default=100)
    name = choose_format("chance_format", names=NAMES)
    many = many_weights(update, name, count)
    st.caption(chance_of_a_step(many, update))
    return update, many


def stochastic(asked: tuple[float, StochasticUpdates]) -> Shown:
    """Show many weights under stochastic rounding, each with draws of its own."""
    update, many = asked
    return Shown(
        headline=stochastic_sentence(many, update),
        charts=[Chart(picture=stochastic_picture(many, look()), file_name="stochastic-rounding")],
        code=CODE_OF_MANY.format(
            update=update,
            steps=NUM_STEPS,
            name=many.format,
            mantissa_bits=cast("FloatFormat", FORMATS[many.format]).mantissa_bits,
            count=many.num_weights,
        ),
    )


def chance_of_a_step(many: StochasticUpdates, update: float) -> str:
    """Return how likely the first step moves a weight; a step beyond the gap always does."""
    if many.chance < 1:
        text = _("A step moves a weight of 1 to its neighbour with a chance of {chance}.")
        return text.format(chance=percent(many.chance))
    gaps = update / (2 * half_gap_above(FORMATS[many.format], 1.0))
    text = _("A step is {count} times the gap above 1: it always moves a weight of 1.")
    return text.format(count=number(gaps, 3))


def stochastic_sentence(many: StochasticUpdates, update: float) -> str:
    """Return where the mean ends, beside the truth and rounding to nearest."""
    text = ngettext(
        "1 + {steps} × {update} in {format}, rounded stochastically: {mean} for {count} weight. "
        "Exact is {exact}, to nearest {nearest}.",
        "1 + {steps} × {update} in {format}, rounded stochastically: {mean} on average of {count} "
        "weights. Exact is {exact}, to nearest {nearest}.",
        many.num_weights,
    )
    return text.format(
        steps=f"{NUM_STEPS:,}",
        update=number(update),
        format=short(many.format),
        mean=number(float(many.mean[-1]), 4),
        count=many.num_weights,
        exact=number(float(many.exact[-1])),
        nearest=number(float(many.nearest[-1])),
    )
