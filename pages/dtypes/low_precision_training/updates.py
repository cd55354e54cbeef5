"""The lab of updates: why weights that are trained in 16 bits have a master copy in 32."""

from typing import Final

import numpy as np
import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.labs import WeightUpdates, weight_updates
from core.figures.dtypes.lab_frame import number, percent, short
from core.figures.dtypes.low_precision_training.lab_updates import (
    updates_alt,
    updates_figure,
    updates_table,
)
from core.language import _
from pages.dtypes.low_precision_training.places import PAGE, lab_places
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

NAMES: Final = ("float16", "bfloat16", "float8_e4m3fn")
UPDATES: Final = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03)
STEPS: Final = (10, 100, 300, 1000, 3000)
WAYS: Final = ("nearest", "stochastic", "master")
CODE: Final = """
import numpy as np

from core.dtypes import FORMATS
from core.dtypes.labs import weight_updates

path = weight_updates(
    1.0,
    {update!r},
    {steps},
    FORMATS[{name!r}],
    {rounding!r},
    master={master!r},
    rng=np.random.default_rng(0),
)
print(path.stored[-1], path.exact[-1], path.half_gap)
"""


@st.cache_data(max_entries=64, show_spinner=False)
def computed(update: float, steps: int, name: str) -> dict[str, WeightUpdates]:
    """Return the path of a weight that begins at 1, in each way."""
    fmt = FORMATS[name]
    return {
        "nearest": weight_updates(1.0, update, steps, fmt),
        "stochastic": weight_updates(
            1.0, update, steps, fmt, "stochastic", rng=np.random.default_rng(0)
        ),
        "master": weight_updates(1.0, update, steps, fmt, master=True),
    }


def show_updates() -> str:
    """Show the lab and return the code of its number."""
    places = lab_places()
    with places.controls:
        name = pickers.segmented(
            PAGE, "update_format", _("Format"), NAMES, default="bfloat16", labels=short
        )
        way = pickers.segmented(
            PAGE, "update_way", _("How the weight is kept"), WAYS, default="nearest", labels=label
        )
        update = pickers.select_slider(
            PAGE, "update_size", _("Update at each step"), UPDATES, default=0.001
        )
        steps = pickers.select_slider(
            PAGE, "update_steps", _("Steps"), STEPS, default=1000, labels=lambda n: f"{n:,}"
        )
    ways = computed(update, steps, name)
    with places.headline:
        headline(sentence(ways[way], way, update))
    with places.picture:
        show_chart(
            updates_figure(ways, way, theme_mode(), present=presenting()),
            key="lowp_updates",
            alt=updates_alt(ways),
            table=updates_table(ways),
            file_name="weight-updates",
        )
    rounding = "stochastic" if way == "stochastic" else "nearest_even"
    return CODE.format(
        update=update, steps=steps, name=name, rounding=rounding, master=way == "master"
    )


def label(way: str) -> str:
    """Return the short words for a way to keep a weight."""
    return {
        "nearest": _("nearest"),
        "stochastic": _("stochastic"),
        "master": _("FP32 master"),
    }[way]


def sentence(path: WeightUpdates, way: str, update: float) -> str:
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
        text = unmoved(way)
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


def unmoved(way: str) -> str:
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
