"""Labs of small updates: a weight that is kept in three ways, and many that are rounded by chance.

They show why weights that are trained in 16 bits have a master copy in 32, or round by chance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, cast

import numpy as np
import streamlit as st

from core.dtypes import FORMATS, FloatFormat
from core.dtypes.labs.weight_updates import (
    StochasticUpdates,
    WeightUpdates,
    half_gap_above,
    stochastic_updates,
    weight_updates,
)
from core.figures.dtypes.low_precision_training.lab_frame import MAX_ROWS, STYLES, LabDrawing, some
from core.figures.dtypes.written import number, percent, short
from core.figures.picture import Look, Picture, Table
from core.language import N_, _, ngettext
from pages.dtypes.low_precision_training.inputs import ASK, FORMAT_NAMES, choose_format
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

NAMES: Final = FORMAT_NAMES[:3]
UPDATES: Final = (0.0001, 0.0002, 0.0003, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.03)
STEPS: Final = (1, 10, 20, 30, 50, 100, 200, 300, 500, 1000, 2000, 3000)
WAYS: Final = {
    "nearest": N_("nearest"),
    "stochastic": N_("stochastic"),
    "master": N_("FP32 master"),
}
WEIGHTS: Final = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 400)
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
    count: int


@st.cache_data(max_entries=64, show_spinner=False)
def one_weight(update: float, steps: int, name: str) -> dict[str, WeightUpdates]:
    """Return the path of a weight that begins at 1, in each way."""
    fmt = FORMATS[name]
    rng = np.random.default_rng(0)
    return {
        "nearest": weight_updates(1.0, update, steps, fmt),
        "stochastic": weight_updates(1.0, update, steps, fmt, "stochastic", rng=rng),
        "master": weight_updates(1.0, update, steps, fmt, master=True),
    }


@st.cache_data(max_entries=64, show_spinner=False)
def many_weights(update: float, steps: int, name: str, count: int) -> StochasticUpdates:
    """Return the paths of weights that begin at 1."""
    return stochastic_updates(1.0, update, steps, FORMATS[name], count, np.random.default_rng(0))


def _choose_updates() -> Asked:
    asked = Asked(
        update=ASK.select_slider("update_size", _("Update per step"), UPDATES, default=0.001),
        steps=ASK.select_slider(
            "update_steps", _("Steps"), STEPS, default=1000, labels="{:,}".format
        ),
        name=choose_format("update_format", names=NAMES),
        way=ASK.segmented("update_way", _("Weight storage"), WAYS, default="nearest"),
        count=ASK.select_slider(
            "update_weights",
            _("Number of weights"),
            WEIGHTS,
            default=100,
            disabled=ASK.used("update_way") != "stochastic",
            help=_("Rounded stochastically, each with draws of its own."),
        ),
    )
    if asked.way == "stochastic":
        many = many_weights(asked.update, asked.steps, asked.name, asked.count)
        st.caption(_chance_of_a_step(many, asked.update))
    return asked


def updates(asked: Asked) -> Shown:
    """Show a weight that is raised step by step, or many of them that are rounded by chance."""
    if asked.way == "stochastic":
        many = many_weights(asked.update, asked.steps, asked.name, asked.count)
        headline, picture = (
            _headline_of_many(many, asked.update),
            stochastic_picture(many, look()),
        )
    else:
        ways = one_weight(asked.update, asked.steps, asked.name)
        headline = _headline(ways[asked.way], asked.way, asked.update)
        picture = updates_picture(ways, asked.way, look())
    return Shown(
        headline=headline,
        charts=[Chart(picture=picture, file_name="weight-updates")],
        code=code_of(asked),
    )


def code_of(asked: Asked) -> str:
    bits = cast("FloatFormat", FORMATS[asked.name]).mantissa_bits
    code = CODES.get(asked.way, CODE_OF_MANY)
    return code.format(**asdict(asked), mantissa_bits=bits)


def _headline(path: WeightUpdates, way: str, update: float) -> str:
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
        text = _(
            "1 + {steps} × {update} in {format} stays {weight}: each update is below half the "
            "gap, {half}."
        )
        if way == "master":
            text = _(
                "1 + {steps} × {update}: the FP32 master has come to {reached}, its copy in "
                "{format} stays {weight}. Half the gap is {half}."
            )
        words["reached"] = number(float((path.exact if path.master is None else path.master)[-1]))
    elif way == "master":
        text = _("1 + {steps} × {update} with an FP32 master ends at {weight}; exact is {exact}.")
    else:
        text = _("1 + {steps} × {update} in {format} ends at {weight}; exact is {exact}.")
    return text.format(**words)


def _chance_of_a_step(many: StochasticUpdates, update: float) -> str:
    if many.chance < 1:
        text = _("A step moves a weight of 1 to its neighbour with a chance of {chance}.")
        return text.format(chance=percent(many.chance))
    gaps = update / (2 * half_gap_above(FORMATS[many.format], 1.0))
    text = _("A step is {count} times the gap above 1: it always moves a weight of 1.")
    return text.format(count=number(gaps, 3))


def _headline_of_many(many: StochasticUpdates, update: float) -> str:
    text = ngettext(
        "1 + {steps} × {update} in {format}, rounded stochastically: {mean} for {count} weight. "
        "Exact is {exact}, to nearest {nearest}.",
        "1 + {steps} × {update} in {format}, rounded stochastically: {mean} on average of {count} "
        "weights. Exact is {exact}, to nearest {nearest}.",
        many.num_weights,
    )
    return text.format(
        steps=f"{many.mean.size - 1:,}", update=number(update), format=short(many.format),
        mean=number(float(many.mean[-1]), 4), count=many.num_weights,
        exact=number(float(many.exact[-1])), nearest=number(float(many.nearest[-1])),
    )  # fmt: skip


LINES: Final = {
    "nearest": N_("rounded to nearest"),
    "stochastic": N_("rounded stochastically"),
    "master": N_("FP32 master copy"),
}


def updates_picture(ways: Mapping[str, WeightUpdates], chosen: str, look: Look) -> Picture:
    """Return the weight's path in each way (a key of `LINES`), the chosen one in bold."""
    drawing, first = LabDrawing(look=look), next(iter(ways.values()))
    places = some(first.stored.size)
    drawing.truth(places, first.exact[places])
    for (way, each), (meaning, dash, _symbol) in zip(ways.items(), STYLES, strict=False):
        y, width = each.stored[places], 5 if way == chosen else 2.5
        drawing.line(places, y, _(LINES[way]), meaning, dash=dash, width=width)
    listed = some(first.stored.size, MAX_ROWS)
    table: dict[str, Sequence[object]] = {_("step"): listed}
    table[_("exact")] = [number(value) for value in first.exact[listed]]
    for way, each in ways.items():
        table[_(LINES[way])] = [number(value, 9) for value in each.stored[listed]]
    parts = [
        _("{way}: {weight}").format(way=_(LINES[way]), weight=number(each.stored[-1]))
        for way, each in ways.items()
    ]
    alt = _("A weight after {steps} updates should be {exact}. {parts}.").format(
        steps=f"{first.stored.size - 1:,}", exact=number(first.exact[-1]), parts=_("; ").join(parts)
    )
    return Picture(figure=drawing.figure(_layout(drawing)), alt=alt, table=table)


def stochastic_picture(many: StochasticUpdates, look: Look) -> Picture:
    """Return some paths thin, nine tenths of all as a band, the mean bold, and the truth."""
    drawing, places = LabDrawing(look=look), some(many.mean.size)
    _draw_band(drawing, many, places)
    for place, path in enumerate(many.paths):
        drawing.scatter(
            x=places, y=path[places], name=_("single weights"), mode="lines",
            line={"color": look.color("format_d"), "dash": "solid", "width": 1, "shape": "hv"},
            showlegend=place == 0, hoverinfo="skip",
        )  # fmt: skip
    nearest = many.nearest[places]
    drawing.line(places, nearest, _("rounded to nearest"), "format_a", dash="dash")
    drawing.line(places, many.mean[places], _("mean of all"), "format_b", width=5)
    drawing.truth(places, many.exact[places])
    return Picture(
        figure=drawing.figure(_layout(drawing)),
        alt=_stochastic_sentence(many),
        table=_stochastic_table(many),
    )


def _layout(drawing: LabDrawing) -> dict[str, Any]:
    return drawing.layout(
        x={"title": _("step"), "tickformat": ","}, y={"title": _("weight"), "tickformat": ".6~g"}
    )


def _draw_band(drawing: LabDrawing, many: StochasticUpdates, places: list[int]) -> None:
    edge = {"x": places, "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    drawing.scatter(y=many.low[places], showlegend=False, **edge)
    drawing.scatter(
        y=many.high[places], name=_("9 of 10 weights"), fill="tonexty",
        fillcolor=drawing.look.color("border"), **edge,
    )  # fmt: skip


def _stochastic_sentence(many: StochasticUpdates) -> str:
    return _(
        "{count} weights in {format}, rounded stochastically, end at {mean} on average, nine of "
        "ten between {low} and {high}; the truth is {exact}, rounding to nearest gives {nearest}."
    ).format(
        count=f"{many.num_weights:,}", format=many.format, mean=number(many.mean[-1], 5),
        low=number(many.low[-1], 4), high=number(many.high[-1], 4), exact=number(many.exact[-1]),
        nearest=number(many.nearest[-1]),
    )  # fmt: skip


def _stochastic_table(many: StochasticUpdates) -> Table:
    places = some(many.mean.size, MAX_ROWS)
    columns = {
        _("exact"): many.exact,
        _("mean of all"): many.mean,
        _("5 % are below"): many.low,
        _("5 % are above"): many.high,
        _("rounded to nearest"): many.nearest,
    }
    written = {name: [number(each) for each in column[places]] for name, column in columns.items()}
    return {_("step"): places, **written}


def _ask_update() -> None:
    predict_then_reveal(
        "lowp_weight",
        _("A weight of 1.0 in bfloat16 is raised by 0.001, a thousand times. Where does it end?"),
        [
            Choice("2", _("So it would with an FP32 master copy.")),
            Choice("1.5", _("Not even the first step moves it.")),
            Choice(number(one_weight(1e-3, 1000, "bfloat16")["nearest"].stored[-1])),
        ],
        _("The next bfloat16 above 1 is 1.0078125; 1.001 is nearer to 1, every time."),
    )


TAB: Final = Tab(
    label=N_("Updates"),
    show=updates,
    choose=_choose_updates,
    question=_ask_update,
    reading="updates",
)
