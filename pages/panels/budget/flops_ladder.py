"""The tab of the ladder: amounts of compute from a laptop's product to the largest runs."""

from typing import Final

from core.budget.flop_ladder import flop_ladder
from core.figures.budget.flop_ladder_plot import ladder_alt, ladder_plot, ladder_table
from core.figures.budget.flops_frame import scientific
from core.language import _
from pages.panels.budget import flops_places
from pages.panels.budget.flops_places import PAGE
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

CODE: Final = """
from core.budget.flop_ladder import flop_ladder

for rung in flop_ladder()[:{count}]:
    print(f"{{rung.amount:10.3g}} FLOPs  {{rung.name}} ({{rung.source}})")
"""


def show_ladder() -> str:
    """Show the tab and return the code of its number."""
    rungs = flop_ladder()
    with flops_places.inputs():
        count = pickers.slider(
            PAGE, "rungs", _("Rungs"), 2, len(rungs), default=len(rungs), step=1,
            help=_("In a class: climb one rung at a time."),
        )  # fmt: skip
    shown = rungs[:count]
    first, last = shown[0], shown[-1]
    headline(
        _("From {first} FLOPs ({first_name}) to {last} FLOPs ({last_name}): {times} times").format(
            first=scientific(first.amount),
            first_name=_(first.name),
            last=scientific(last.amount),
            last_name=_(last.name),
            times=scientific(last.amount / first.amount),
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
