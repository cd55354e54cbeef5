"""The lab of sums: the same number added again and again."""

from dataclasses import asdict, dataclass
from typing import Final

import numpy as np
import streamlit as st

from core.dtypes import FORMATS, Rounding
from core.dtypes.labs import ORDERS, Accumulation, accumulate
from core.dtypes.labs.accumulate import Order
from core.figures.dtypes.low_precision_training.sums import sums_picture
from core.figures.dtypes.written import number, percent, short
from core.language import N_, _
from pages.dtypes.low_precision_training.inputs import ASK, FORMAT_NAMES, choose_format
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

TERMS: Final = (0.001, 0.01, 0.1, 0.5, 1, 3)
COUNTS: Final = (10, 100, 300, 1000, 3000, 10_000)
LABELS: Final = {
    "sequential": N_("in a loop"),
    "pairwise": N_("pairs"),
    "float32_then_cast": N_("in FP32"),
}
CODE: Final = """
import numpy as np

from core.dtypes import FORMATS
from core.dtypes.labs import accumulate

total = accumulate(
    np.full({count}, {term!r}),
    FORMATS[{name!r}],
    {rounding!r},
    order={order!r},
    rng=np.random.default_rng(0),
)
print(total.result, total.exact, total.stalls_after)
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What is added, how often, and how."""

    name: str
    term: float
    count: int
    order: Order
    rounding: Rounding


@st.cache_data(max_entries=64, show_spinner=False)
def computed(term: float, count: int, order: Order, rounding: Rounding) -> tuple[Accumulation, ...]:
    """Return the sum in every format."""
    values = np.full(count, term)
    return tuple(
        accumulate(values, FORMATS[name], rounding, order, np.random.default_rng(0))
        for name in FORMAT_NAMES
    )


def choose_sums() -> Asked:
    """Show the inputs of the lab and return what they say."""
    return Asked(
        name=choose_format("sum_format"),
        term=float(ASK.select_slider("sum_term", _("Number that is added"), TERMS, default=1)),
        count=ASK.select_slider(
            "sum_count", _("How often"), COUNTS, default=1000, labels="{:,}".format
        ),
        order=ASK.segmented(
            "sum_order",
            _("Order"),
            ORDERS,
            default="sequential",
            labels=lambda order: _(LABELS[order]),
        ),
        rounding="stochastic"
        if ASK.toggle("sum_stochastic", _("Round stochastically"), default=False)
        else "nearest_even",
    )


def sums(asked: Asked) -> Shown:
    """Show the running sums in every format."""
    found = computed(asked.term, asked.count, asked.order, asked.rounding)
    total = next(each for each in found if each.format == asked.name)
    picture = sums_picture(found, asked.name, look())
    return Shown(
        headline=sentence(total, asked.term, asked.count),
        charts=[Chart(picture=picture, file_name="sums")],
        code=CODE.format(**asdict(asked)),
    )


def sentence(total: Accumulation, term: float, count: int) -> str:
    """Return what became of the sum."""
    words = {
        "count": f"{count:,}",
        "term": number(term),
        "format": short(total.format),
        "sum": number(total.result),
        "exact": number(total.exact),
    }
    if not np.isfinite(total.result):
        text = _("{count} × {term} in {format} overflows: the sum is {sum}, not {exact}.")
    elif total.stalls_after is not None:
        text = _(
            "{count} × {term} in {format} = {sum}, not {exact}: after {stall} values it stalls."
        )
        words["stall"] = f"{total.stalls_after:,}"
    elif total.result == total.exact:
        text = _("{count} × {term} in {format} = {sum}: nothing is lost.")
    else:
        text = _("{count} × {term} in {format} = {sum}, not {exact}: off by {error}.")
        words["error"] = percent(abs(total.result / total.exact - 1))
    return text.format(**words)
