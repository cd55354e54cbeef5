"""The lab of softmax: exponentials overflow early, and one subtraction repairs it."""

import math
import string
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.labs.softmax import SoftmaxTrace
from core.dtypes.labs.softmax import softmax as softmax_in
from core.figures.dtypes.low_precision_training.lab_frame import LabDrawing, hatched
from core.figures.dtypes.written import number, percent, short
from core.figures.picture import Look, Picture, Table
from core.language import N_, _
from core.units import in_percent
from pages.dtypes.low_precision_training.inputs import ASK, cast_code, choose_format
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

BELOW: Final = (0.0, 1.0, 2.0)  # how far the three logits lie below the largest
CODE: Final = """
import torch


def stored(x):  # rounded to the format, then computed with exactly
    {cast}


logits = stored(torch.tensor({logits!r}, dtype=torch.float64))
for shift in (0, logits.max()):
    exponentials = stored(torch.exp(stored(logits - shift)))
    total = torch.zeros(())
    for each in exponentials:
        total = stored(total + each)
    probability = stored(exponentials[0] / total)
    print(f"{{exponentials[0]:.5g}}, sum {{total:.5g}}: {{100 * probability:.3g}} %")
"""


@st.cache_data(max_entries=64, show_spinner=False)
def computed(logits: tuple[float, ...], name: str) -> tuple[SoftmaxTrace, SoftmaxTrace]:
    fmt = FORMATS[name]
    return softmax_in(logits, fmt, stable=False), softmax_in(logits, fmt, stable=True)


def _choose_softmax() -> tuple[str, float]:
    largest = ASK.slider("softmax_logit", _("Largest logit"), -20.0, 100.0, default=11.1, step=0.1)
    name = choose_format("softmax_format", default="float16")
    stored = computed(_logits(largest), name)[0].logits
    st.caption(_("The logits of the other two tokens are 1 and 2 lower."))
    st.caption(
        _("Stored in {format}: {logits}.").format(
            format=short(name), logits=_(", ").join(number(each, 5) for each in stored)
        )
    )
    return name, largest


def softmax(asked: tuple[str, float]) -> Shown:
    name, largest = asked
    logits = _logits(largest)
    naive, stable = computed(logits, name)
    return Shown(
        headline=_headline(naive, stable, largest),
        charts=[Chart(picture=softmax_picture(naive, stable, look()), file_name="softmax")],
        code=CODE.format(logits=list(logits), cast=cast_code(name, "double")),
    )


def _logits(largest: float) -> tuple[float, ...]:
    return tuple(round(largest - below, 6) for below in BELOW)


def _headline(naive: SoftmaxTrace, stable: SoftmaxTrace, largest: float) -> str:
    words = {
        "logit": number(largest),
        "format": short(naive.format),
        "exp": number(float(naive.exponentials[0]), 5),
        "sum": number(naive.total, 5),
        "naive": percent_or_nan(float(naive.probabilities[0])),
        "stable": percent_or_nan(float(stable.probabilities[0])),
    }
    if not np.isfinite(naive.exponentials[0]):
        text = _(
            "exp({logit}) in {format} is {exp}: the naive softmax says {naive}; with the maximum "
            "subtracted it says {stable}."
        )
    elif naive.failure == "overflow":
        text = _(
            "exp({logit}) in {format} is {exp}, but the sum overflows ({sum}): the naive softmax "
            "says {naive}, the stable one {stable}."
        )
    elif naive.failure == "zero_sum":
        text = _(
            "exp({logit}) in {format} is 0, like all the others: the naive softmax says {naive}; "
            "with the maximum subtracted it says {stable}."
        )
    else:
        text = _(
            "exp({logit}) in {format} is {exp}, which fits: the naive softmax says {naive}, the "
            "stable one {stable}."
        )
    return text.format(**words)


def percent_or_nan(share: float) -> str:
    """Return a probability in percent; NaN stays NaN.

    >>> percent_or_nan(0.25), percent_or_nan(float("nan"))
    ('25 %', 'NaN')
    """
    return percent(share) if np.isfinite(share) else "NaN"


_DOMAINS: Final = ((0.0, 0.36), (0.46, 1.0))


def softmax_picture(naive: SoftmaxTrace, stable: SoftmaxTrace, look: Look) -> Picture:
    """Return exp(logit) beside the format's largest number, and three answers for each logit."""
    # Two logits may be stored alike: the letter keeps their bars apart.
    words = [
        f"{letter}: {number(logit, 3)}"
        for letter, logit in zip(string.ascii_uppercase, naive.logits, strict=False)
    ]
    drawing = LabDrawing(look=look)
    _draw_exponentials(drawing, naive, words)
    drawing.ceiling(words, naive.format, width=3)
    _draw_answers(drawing, naive, stable, words)
    fmt = FORMATS[naive.format]
    low, high = math.log10(fmt.smallest_subnormal), math.log10(fmt.max)
    layout = drawing.layout(
        x={"title": _("exp(logit)"), "type": "category", "domain": _DOMAINS[0], "tickangle": 0},
        y={
            "title": "",
            "type": "log",
            "range": [max(low, -high) - 0.5, high * 1.22 + 0.5],
            "nticks": 6,
            "exponentformat": "power",
        },
    )
    right = {
        "xaxis2": layout["xaxis"]
        | {"domain": _DOMAINS[1], "anchor": "y2", "title": {"text": _("probability")}},
        "yaxis2": layout["yaxis"]
        | {"anchor": "x2", "range": [0, 1.12], "type": "linear"}
        | {"tickformat": ".0%", "tickvals": [0, 0.25, 0.5, 0.75, 1]},
    }
    figure = drawing.figure(layout | right | {"barmode": "group", "bargap": 0.12})
    return Picture(figure=figure, alt=_sentence(naive, stable), table=_table(naive, stable))


def _draw_exponentials(drawing: LabDrawing, naive: SoftmaxTrace, words: list[str]) -> None:
    look = drawing.look
    fits = np.isfinite(naive.exponentials)
    beyond = FORMATS[naive.format].max * 2
    drawing.bar(
        x=words,
        # A bar cannot be infinite: it breaks through the ceiling, and its text says what it is.
        y=[value if ok else beyond for value, ok in zip(naive.exponentials, fits, strict=True)],
        text=[_compact(value) for value in naive.exponentials],
        textposition=[
            "inside" if value > 1 and ok else "outside"
            for value, ok in zip(naive.exponentials, fits, strict=True)
        ],
        insidetextanchor="end",
        textangle=0,
        constraintext="none",
        insidetextfont={"color": look.color("background")},
        cliponaxis=False,
        marker={
            "color": [look.color("format_a" if ok else "overflow") for ok in fits],
            "pattern": hatched(["" if ok else "x" for ok in fits]),
        },
        showlegend=False,
        hovertemplate="exp(%{x}) = %{text}<extra></extra>",
    )


def _draw_answers(
    drawing: LabDrawing, naive: SoftmaxTrace, stable: SoftmaxTrace, words: list[str]
) -> None:
    rows = (
        (_("exact"), naive.exact, "reference", "", False),
        (_("naive"), naive.probabilities, "format_a", "/", True),
        (_("maximum subtracted"), stable.probabilities, "format_b", ".", True),
    )
    for name, values, color, pattern, written in rows:
        drawing.bar(
            x=words, y=[value if math.isfinite(value) else 0 for value in values],
            customdata=[_share(value) for value in values],
            text=[_share(value) if written else "" for value in values], textposition="outside",
            textangle=0, constraintext="none", cliponaxis=False, name=name,
            marker={"color": drawing.look.color(color), "pattern": hatched(pattern)}, xaxis="x2",
            yaxis="y2", hovertemplate="%{x}: %{customdata}<extra>%{fullData.name}</extra>",
        )  # fmt: skip


def _compact(value: float) -> str:
    """Return a number that fits into a bar: 2.4e4."""
    if not math.isfinite(value) or 0.1 <= value < 1000:
        return number(value, 3)
    return f"{value:.1e}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def _share(value: float) -> str:
    """Return a share that fits above a bar: 67 %, 9 %, 0.5 %."""
    if not math.isfinite(value):
        return "NaN"
    return in_percent(f"{100 * value:.0f}" if value >= 0.1 else f"{100 * value:.2g}")


def _sentence(naive: SoftmaxTrace, stable: SoftmaxTrace) -> str:
    first = int(np.argmax(naive.logits))
    return _(
        "exp({logit}) in {format} is {exponential}. The naive softmax gives {naive} for that "
        "logit; after subtracting the maximum it gives {stable}; exact is {exact}."
    ).format(
        logit=number(naive.logits[first]),
        format=short(naive.format),
        exponential=number(naive.exponentials[first], 4),
        naive=number(naive.probabilities[first], 4),
        stable=number(stable.probabilities[first], 4),
        exact=number(naive.exact[first], 4),
    )


def _table(naive: SoftmaxTrace, stable: SoftmaxTrace) -> Table:

    def column(values: Sequence[float] | Any) -> list[str]:  # noqa: ANN401  any array
        return [number(value) for value in values]

    return {
        _("logit"): column(naive.logits),
        "exp(x)": column(naive.exponentials),
        _("naive"): column(naive.probabilities),
        "x - max": column(stable.shifted),
        "exp(x - max)": column(stable.exponentials),
        _("maximum subtracted"): column(stable.probabilities),
        _("exact"): column(naive.exact),
    }


def _ask_exp() -> None:
    predict_then_reveal(
        "lowp_exp",
        _("exp(11.1) is 66,171. What is it in float16?"),
        [
            Choice("66,171", _("Larger than 65,504, the largest number of float16.")),
            Choice("65,504", _("A cast could saturate; arithmetic in float16 does not.")),
            Choice(number(float(computed((11.1,), "float16")[0].exponentials[0]))),
        ],
        _("And inf / inf is NaN: so a softmax subtracts the largest logit first."),
    )


TAB: Final = Tab(
    label=N_("Softmax"), show=softmax, choose=_choose_softmax, question=_ask_exp, reading="softmax"
)
