"""The tab of the ladder: amounts of compute from a laptop's product to the largest runs."""

from typing import Final

from streamlit.delta_generator import DeltaGenerator

from core.budget.compute.flop_ladder import flop_ladder
from core.figures.budget.flops_and_time.flop_ladder_plot import (
    ladder_alt,
    ladder_plot,
    ladder_table,
)
from core.figures.budget.flops_frame import scientific
from core.language import _
from pages.budget.flops_and_time.places import PAGE
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

CODE: Final = """
from core.budget.compute.flop_ladder import flop_ladder

for rung in flop_ladder()[:{count}]:
    print(f"{{rung.amount:10.3g}} FLOPs  {{rung.name}} ({{rung.source}})")
"""


def show_ladder(row: DeltaGenerator) -> str:
    """Show the tab and return the code of its number."""
    rungs = flop_ladder()
    with row:
        count = pickers.slider(
            PAGE, "rungs", _("Rungs"), 2, len(rungs), default=len(rungs), step=1,
            help=_("In a class: climb one rung at a time."),
        )  # fmt: skip
    shown = rungs[:count]
    first, last = shown[0], shown[-1]
    headline(
        _("From {first} to {last} FLOPs, {times} times as many; at the top: {name}").format(
            first=scientific(first.amount),
            last=scientific(last.amount),
            times=scientific(last.amount / first.amount),
            name=_(last.name),
        )
    )
    show_chart(
        ladder_plot(shown, theme_mode(), present=presenting()),
        key="flops_ladder_chart",
        alt=ladder_alt(shown),
        table=ladder_table(shown),
        file_name="flop-ladder",
    )
    return CODE.format(count=count)
