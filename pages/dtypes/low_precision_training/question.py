"""What to predict before a lab is moved; every answer is computed."""

from typing import Final

import numpy as np
import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.labs import accumulate, softmax_naive, weight_updates
from core.figures.dtypes.written import number
from core.language import _
from pages.shared.questions import Choice, predict_then_reveal

NUM_ONES: Final = 1000


@st.cache_data(max_entries=1, show_spinner=False)
def answers() -> dict[str, float]:
    """Return the three answers."""
    bfloat16 = FORMATS["bfloat16"]
    return {
        "sum": accumulate(np.ones(NUM_ONES), bfloat16).result,
        "weight": float(weight_updates(1.0, 1e-3, NUM_ONES, bfloat16).stored[-1]),
        "exp": float(softmax_naive([11.1], FORMATS["float16"]).exponentials[0]),
    }


def ask_sum() -> None:
    """Ask for the sum of 1000 ones."""
    predict_then_reveal(
        "lowp_ones",
        _("A loop adds 1.0 a thousand times in bfloat16. What is the sum?"),
        [
            Choice("1,000", _("That needs ten bits of precision; bfloat16 has eight.")),
            Choice(number(answers()["sum"])),
            Choice("inf", _("The largest bfloat16 is 3.4e38: the range is not the problem.")),
        ],
        _(
            "From 256 on, neighbours are 2 apart: 256 + 1 lies halfway, and the tie goes to the "
            "even one, 256. `torch.sum` gives 1,000, because it adds in FP32."
        ),
    )


def ask_update() -> None:
    """Ask where a weight ends that is stored in bfloat16."""
    predict_then_reveal(
        "lowp_weight",
        _("A weight of 1.0 in bfloat16 is raised by 0.001, a thousand times. Where does it end?"),
        [
            Choice("2", _("So it would with an FP32 master copy.")),
            Choice("1.5", _("Not even the first step moves it.")),
            Choice(number(answers()["weight"])),
        ],
        _("The next bfloat16 above 1 is 1.0078125; 1.001 is nearer to 1, every time."),
    )


def ask_exp() -> None:
    """Ask what exp(11.1) is in float16."""
    predict_then_reveal(
        "lowp_exp",
        _("exp(11.1) is 66,171. What is it in float16?"),
        [
            Choice("66,171", _("Larger than 65,504, the largest number of float16.")),
            Choice("65,504", _("A cast could saturate; arithmetic in float16 does not.")),
            Choice(number(answers()["exp"])),
        ],
        _("And inf / inf is NaN: so a softmax subtracts the largest logit first."),
    )
