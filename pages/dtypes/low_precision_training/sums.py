"""The lab of sums: the same number added again and again."""

from typing import Final

import numpy as np
import streamlit as st

from core.dtypes import FORMATS, Rounding
from core.dtypes.labs import Accumulation, accumulate
from core.dtypes.labs.accumulate import ORDERS, Order
from core.figures.dtypes.lab_frame import number, percent, short
from core.figures.dtypes.low_precision_training.lab_sums import sums_alt, sums_figure, sums_table
from core.language import _
from pages.dtypes.low_precision_training.places import PAGE, lab_places
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

NAMES: Final = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
TERMS: Final = (0.001, 0.01, 0.1, 0.5, 1, 3)
COUNTS: Final = (10, 100, 300, 1000, 3000, 10_000)
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


@st.cache_data(max_entries=64, show_spinner=False)
def computed(term: float, count: int, order: Order, rounding: Rounding) -> tuple[Accumulation, ...]:
    """Return the sum in every format."""
    values = np.full(count, term)
    return tuple(
        accumulate(values, FORMATS[name], rounding, order, np.random.default_rng(0))
        for name in NAMES
    )


def show_sums() -> str:
    """Show the lab and return the code of its number."""
    places = lab_places()
    with places.controls:
        name = pickers.segmented(
            PAGE, "sum_format", _("Format"), NAMES, default="bfloat16", labels=short
        )
        term = pickers.select_slider(PAGE, "sum_term", _("Number that is added"), TERMS, default=1)
        count = pickers.select_slider(
            PAGE, "sum_count", _("How often"), COUNTS, default=1000, labels=lambda n: f"{n:,}"
        )
        order = pickers.segmented(
            PAGE, "sum_order", _("Order"), ORDERS, default="sequential", labels=order_label
        )
        by_chance = pickers.toggle(PAGE, "sum_stochastic", _("Round stochastically"), default=False)
    rounding: Rounding = "stochastic" if by_chance else "nearest_even"
    sums = computed(term, count, order, rounding)
    total = next(each for each in sums if each.format == name)
    with places.headline:
        headline(sentence(total, term, count))
    with places.picture:
        show_chart(
            sums_figure(sums, name, theme_mode(), present=presenting()),
            key="lowp_sums",
            alt=sums_alt(sums),
            table=sums_table(sums),
            file_name="sums",
        )
    return CODE.format(count=count, term=float(term), name=name, rounding=rounding, order=order)


def order_label(order: str) -> str:
    """Return the words for an order of adding."""
    return {
        "sequential": _("in a loop"),
        "pairwise": _("pairs"),
        "float32_then_cast": _("in FP32"),
    }[order]


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
