"""The lab of softmax: exponentials overflow early, and one subtraction repairs it."""

from typing import Final

import numpy as np
import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.labs import SoftmaxTrace, softmax_naive, softmax_stable
from core.figures.dtypes.low_precision_training.softmax import softmax_picture
from core.figures.dtypes.written import number, percent, short
from core.language import _
from pages.dtypes.low_precision_training.inputs import ASK, cast_code, choose_format
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

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
    """Return the naive and the stable softmax."""
    return softmax_naive(logits, FORMATS[name]), softmax_stable(logits, FORMATS[name])


def choose_softmax() -> tuple[str, float]:
    """Show the inputs of the lab and how they are stored; return the format and a logit."""
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
    """Show the exponentials and what both ways make of them."""
    name, largest = asked
    logits = _logits(largest)
    naive, stable = computed(logits, name)
    return Shown(
        headline=sentence(naive, stable, largest),
        charts=[Chart(picture=softmax_picture(naive, stable, look()), file_name="softmax")],
        code=CODE.format(logits=list(logits), cast=cast_code(name, "double")),
    )


def _logits(largest: float) -> tuple[float, ...]:
    return tuple(round(largest - below, 6) for below in BELOW)


def sentence(naive: SoftmaxTrace, stable: SoftmaxTrace, largest: float) -> str:
    """Return what exp of the largest logit becomes, and what that does to the softmax."""
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
