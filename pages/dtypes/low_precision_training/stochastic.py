"""The lab of stochastic rounding: many weights, each with draws of its own."""

from typing import Final

import numpy as np
import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.labs import StochasticUpdates, stochastic_updates
from core.dtypes.labs.weight_updates import half_gap_above
from core.figures.dtypes.lab_frame import number, percent, short
from core.figures.dtypes.low_precision_training.lab_stochastic import (
    stochastic_alt,
    stochastic_figure,
    stochastic_table,
)
from core.language import _, ngettext
from pages.dtypes.low_precision_training.places import PAGE, lab_places
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

NAMES: Final = ("float16", "bfloat16", "float8_e4m3fn")
UPDATES: Final = (0.0001, 0.0003, 0.001, 0.003, 0.01)
WEIGHTS: Final = (1, 10, 100, 400)
NUM_STEPS: Final = 1000
CODE: Final = """
import numpy as np

from core.dtypes import FORMATS
from core.dtypes.labs import stochastic_updates

many = stochastic_updates(
    1.0, {update!r}, {steps}, FORMATS[{name!r}], {count}, np.random.default_rng(0)
)
print(many.mean[-1], many.exact[-1], many.nearest[-1])
"""


@st.cache_data(max_entries=64, show_spinner=False)
def computed(update: float, name: str, count: int) -> StochasticUpdates:
    """Return the paths of weights that begin at 1."""
    rng = np.random.default_rng(0)
    return stochastic_updates(1.0, update, NUM_STEPS, FORMATS[name], count, rng)


def show_stochastic() -> str:
    """Show the lab and return the code of its number."""
    places = lab_places()
    with places.controls:
        name = pickers.segmented(
            PAGE, "chance_format", _("Format"), NAMES, default="bfloat16", labels=short
        )
        update = pickers.select_slider(
            PAGE, "chance_update", _("Update at each step"), UPDATES, default=0.001
        )
        count = pickers.select_slider(PAGE, "chance_weights", _("Weights"), WEIGHTS, default=100)
        many = computed(update, name, count)
        st.caption(chance_of_a_step(many, update))
    with places.headline:
        headline(sentence(many, update))
    with places.picture:
        show_chart(
            stochastic_figure(many, theme_mode(), present=presenting()),
            key="lowp_stochastic",
            alt=stochastic_alt(many),
            table=stochastic_table(many),
            file_name="stochastic-rounding",
        )
    return CODE.format(update=update, steps=NUM_STEPS, name=name, count=count)


def chance_of_a_step(many: StochasticUpdates, update: float) -> str:
    """Return how likely the first step moves a weight; a step beyond the gap always does."""
    if many.chance < 1:
        text = _("A step moves a weight of 1 to its neighbour with a chance of {chance}.")
        return text.format(chance=percent(many.chance))
    gaps = update / (2 * half_gap_above(FORMATS[many.format], 1.0))
    text = _("A step is {count} times the gap above 1: it always moves a weight of 1.")
    return text.format(count=number(gaps, 3))


def sentence(many: StochasticUpdates, update: float) -> str:
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
