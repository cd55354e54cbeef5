"""The lab of softmax: exponentials overflow early, and one subtraction repairs it."""

from typing import Final

import numpy as np
import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.labs import SoftmaxTrace, softmax_naive, softmax_stable
from core.figures.dtypes.lab_frame import number, percent, short
from core.figures.dtypes.low_precision_training.lab_softmax import (
    softmax_alt,
    softmax_figure,
    softmax_table,
)
from core.language import _
from pages.dtypes.low_precision_training.places import PAGE, lab_places
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

NAMES: Final = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
BELOW: Final = (0.0, 1.0, 2.0)  # how far the three logits lie below the largest
CODE: Final = """
from core.dtypes import FORMATS
from core.dtypes.labs import softmax_naive, softmax_stable

logits = {logits!r}
naive = softmax_naive(logits, FORMATS[{name!r}])
stable = softmax_stable(logits, FORMATS[{name!r}])
print(naive.exponentials[0], naive.total)
print(f"{{100 * naive.probabilities[0]:.3g}} %, {{100 * stable.probabilities[0]:.3g}} %")
"""


@st.cache_data(max_entries=64, show_spinner=False)
def computed(logits: tuple[float, ...], name: str) -> tuple[SoftmaxTrace, SoftmaxTrace]:
    """Return the naive and the stable softmax."""
    return softmax_naive(logits, FORMATS[name]), softmax_stable(logits, FORMATS[name])


def show_softmax() -> str:
    """Show the lab and return the code of its number."""
    places = lab_places()
    with places.controls:
        name = pickers.segmented(
            PAGE, "softmax_format", _("Format"), NAMES, default="float16", labels=short
        )
        largest = pickers.slider(
            PAGE, "softmax_logit", _("Largest logit"), -20.0, 100.0, default=11.1, step=0.1
        )
        logits = tuple(round(largest - below, 6) for below in BELOW)
        naive, stable = computed(logits, name)
        st.caption(_("The logits of the other two tokens are 1 and 2 lower."))
        st.caption(
            _("Stored in {format}: {logits}.").format(
                format=short(name), logits=_(", ").join(number(each, 5) for each in naive.logits)
            )
        )
    with places.headline:
        headline(sentence(naive, stable, largest))
    with places.picture:
        show_chart(
            softmax_figure(naive, stable, theme_mode(), present=presenting()),
            key="lowp_softmax",
            alt=softmax_alt(naive, stable),
            table=softmax_table(naive, stable),
            file_name="softmax",
        )
    return CODE.format(logits=list(logits), name=name)


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
