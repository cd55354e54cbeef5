"""The lab of sums: the same number added again and again."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np
import streamlit as st

from core.dtypes import FORMATS, Rounding
from core.dtypes.labs.accumulate import Accumulation, Order, accumulate
from core.dtypes.labs.weight_updates import half_gap_above
from core.figures.dtypes.low_precision_training.lab_frame import MAX_ROWS, STYLES, LabDrawing, some
from core.figures.dtypes.written import number, percent, short
from core.figures.picture import Look, Picture, Table
from core.language import N_, _
from pages.dtypes.low_precision_training.inputs import ASK, FORMAT_NAMES, cast_code, choose_format
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

NUM_ONES: Final = 1000
TERMS: Final = (
    *(0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5),
    *(1, 2, 3, 5),
)
# Beside round numbers the powers of two at which sums of ones end.
COUNTS: Final = (
    *(10, 16, 20, 30, 50, 100, 200, 256, 300, 500, 512, 1000),
    *(2000, 2048, 3000, 4096, 5000, 8192, 10_000),
)
LABELS: Final[Mapping[Order, str]] = {
    "sequential": N_("in a loop"),
    "pairwise": N_("pairs"),
    "float32_then_cast": N_("in FP32"),
}
CODES: Final[Mapping[Order, str]] = {
    "sequential": """
import torch
{function}
addend = {addend}
total = torch.zeros((), dtype={dtype})
for _ in range({count}):
    total = {stored}(total + addend)
print(total.item())
""",
    "pairwise": """
import torch
{function}
values = {values}
while len(values) > 1:
    even = len(values) // 2 * 2
    values = torch.cat([{stored}(values[:even:2] + values[1:even:2]), values[even:]])
print(values.item())
""",
    "float32_then_cast": """
import torch
{function}
total = {values}.float().sum()
print({total}.item())
""",
}
# Torch adds no numbers of 8 bits: two of them are added in FP32, exactly, and rounded once.
_FUNCTION: Final = """

def stored(x):
    {cast}

"""
STOCHASTIC_CODE: Final = """
import numpy as np

from core.dtypes import FORMATS
from core.dtypes.labs.accumulate import accumulate

total = accumulate(
    np.full({count}, {term!r}),
    FORMATS[{name!r}],
    "stochastic",
    order={order!r},
    rng=np.random.default_rng(0),
)
print(total.result)
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
    values = np.full(count, term)
    return tuple(
        accumulate(values, FORMATS[name], rounding, order, np.random.default_rng(0))
        for name in FORMAT_NAMES
    )


def _choose_sums() -> Asked:
    return Asked(
        term=float(ASK.select_slider("sum_term", _("Addend"), TERMS, default=1)),
        count=ASK.select_slider(
            "sum_count", _("Repetitions"), COUNTS, default=1000, labels="{:,}".format
        ),
        name=choose_format("sum_format"),
        order=ASK.segmented("sum_order", _("Order"), LABELS, default="sequential"),
        rounding="stochastic"
        if ASK.toggle("sum_stochastic", _("Stochastic rounding"), default=False)
        else "nearest_even",
    )


def sums(asked: Asked) -> Shown:
    found = computed(asked.term, asked.count, asked.order, asked.rounding)
    total = next(each for each in found if each.format == asked.name)
    picture = sums_picture(found, asked.name, look())
    return Shown(
        headline=_headline(total, asked.term, asked.count),
        charts=[Chart(picture=picture, file_name="sums")],
        code=code_of(asked),
    )


def code_of(asked: Asked) -> str:
    """Return Python for the sum: torch, unless chance rounds."""
    if asked.rounding == "stochastic":
        return STOCHASTIC_CODE.format(**asdict(asked))
    many, dtype = f"torch.full(({asked.count},), {asked.term!r})", f"torch.{asked.name}"
    parts = {
        "function": "",
        "addend": f"torch.tensor({asked.term!r}, dtype={dtype})",
        "dtype": dtype,
        "values": f"{many}.to({dtype})",
        "stored": "",
        "total": f"total.to({dtype})",
    }
    if asked.name.startswith("float8"):
        parts = {
            "function": _FUNCTION.format(cast=cast_code(asked.name)),
            "addend": f"stored(torch.tensor({asked.term!r}))",
            "dtype": "torch.float32",
            "values": f"stored({many})",
            "stored": "stored",
            "total": "stored(total)",
        }
    return CODES[asked.order].format(count=asked.count, **parts)


def _headline(total: Accumulation, term: float, count: int) -> str:
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
            "{count} × {term} in {format} = {sum}, not {exact}: at {sum} half the gap to the next "
            "number is {half}, and + {term} is rounded away."
        )
        words["half"] = number(half_gap_above(FORMATS[total.format], total.result), 3)
    elif total.result == total.exact:
        text = _("{count} × {term} in {format} = {sum}: nothing is lost.")
    else:
        text = _("{count} × {term} in {format} = {sum}, not {exact}: off by {error}.")
        words["error"] = percent(abs(total.result / total.exact - 1))
    return text.format(**words)


def sums_picture(sums: Sequence[Accumulation], chosen: str, look: Look) -> Picture:
    """Return one line a format, the chosen one in bold, and the sum without rounding."""
    drawing, places = LabDrawing(look=look), some(len(sums[0].counts))
    drawing.truth(sums[0].counts[places], sums[0].reference[places])
    for each, (meaning, dash, _symbol) in zip(sums, STYLES, strict=False):
        seen = some(len(each.counts), always=[(each.stalls_after or 1) - 1])
        x, y, width = each.counts[seen], each.sums[seen], 5 if each.format == chosen else 2.5
        drawing.line(x, y, short(each.format), meaning, dash=dash, width=width)
        if each.format == chosen and each.stalls_after is not None:
            _point_at_stall(drawing, each.stalls_after, each.result)
    layout = drawing.layout(
        x={"title": _("values added"), "tickformat": ","},
        y={"title": _("running sum"), "rangemode": "tozero", "tickformat": ",~g"},
    )
    parts = [
        _("{format} ends at {sum}").format(format=short(each.format), sum=number(each.result))
        for each in sums
    ]
    alt = _("Running sums of {count} values. The true sum is {exact}; {parts}.").format(
        count=f"{int(sums[0].counts[-1]):,}", exact=number(sums[0].exact), parts=_(", ").join(parts)
    )
    listed = some(len(sums[0].counts), MAX_ROWS)
    table: Table = {
        _("values added"): [int(count) for count in sums[0].counts[listed]],
        _("exact"): [number(value) for value in sums[0].reference[listed]],
        **{short(each.format): [number(value) for value in each.sums[listed]] for each in sums},
    }
    return Picture(figure=drawing.figure(layout), alt=alt, table=table)


def _point_at_stall(drawing: LabDrawing, x: float, y: float) -> None:
    """Write at the end of an arrow, on a ground that covers lines behind it."""
    drawing.note(
        x=x, y=y, text=_("stalls at {sum}").format(sum=number(y)), showarrow=True,
        arrowcolor=drawing.look.color("text"), arrowwidth=2,
        bgcolor=drawing.look.color("background"), ax=60, ay=-40,
    )  # fmt: skip


def _ask_sum() -> None:
    predict_then_reveal(
        "lowp_ones",
        _("A loop adds 1.0 a thousand times in bfloat16. What is the sum?"),
        [
            Choice("1,000", _("That needs ten bits of precision; bfloat16 has eight.")),
            Choice(number(accumulate(np.ones(NUM_ONES), FORMATS["bfloat16"]).result)),
            Choice("inf", _("The largest bfloat16 is 3.4e38: the range is not the problem.")),
        ],
        _(
            "From 256 on, neighbours are 2 apart: 256 + 1 lies halfway, and the tie goes to the "
            "even one, 256. `torch.sum` gives 1,000, because it adds in FP32."
        ),
    )


TAB: Final = Tab(
    label=N_("Sums"), show=sums, choose=_choose_sums, question=_ask_sum, reading="sums"
)
