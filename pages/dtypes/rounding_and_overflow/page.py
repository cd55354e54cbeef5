"""What happens to a number that a format cannot hold?"""

from core.language import N_
from pages.dtypes.rounding_and_overflow.answer import refused, snippet
from pages.dtypes.rounding_and_overflow.casts import choose_formats, formats, modes, zoom
from pages.dtypes.rounding_and_overflow.inputs import ASK, choose_cast
from pages.dtypes.rounding_and_overflow.number_line import line
from pages.dtypes.rounding_and_overflow.question import ask_both, ask_your_torch
from pages.dtypes.rounding_and_overflow.your_torch import choose_torch, your_torch
from pages.shared.tabbed_page import Page, Tab, tabbed_page

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_cast,
        tabs={
            "zoom": Tab(label=N_("Nearest values"), show=zoom, question=ask_both),
            "formats": Tab(label=N_("Formats"), show=formats, choose=choose_formats),
            "modes": Tab(label=N_("Rounding modes"), show=modes),
            "line": Tab(label=N_("Number line"), show=line),
            "torch": Tab(
                label=N_("Your torch"),
                show=your_torch,
                choose=choose_torch,
                question=ask_your_torch,
                reading="torch",
            ),
        },
        code=snippet,
        refusal=refused,
        snippet="cast",
    ),
)
