"""What happens to a number that a format cannot hold?"""

from pages.dtypes.rounding_and_overflow import formats, modes, number_line, your_torch, zoom
from pages.dtypes.rounding_and_overflow.answer import refused, snippet
from pages.dtypes.rounding_and_overflow.inputs import ASK, choose_cast
from pages.shared.tabbed_page import Page, tabbed_page

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_cast,
        tabs={
            "zoom": zoom.TAB,
            "formats": formats.TAB,
            "modes": modes.TAB,
            "line": number_line.TAB,
            "torch": your_torch.TAB,
        },
        code=snippet,
        refusal=refused,
        snippet="cast",
    ),
)
