"""What does a tensor lose in 8 or 4 bits?"""

from pages.dtypes.quantization import codes, error, nf4, quality
from pages.dtypes.quantization.inputs import ASK, choose_case
from pages.shared.tabbed_page import Page, tabbed_page

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        tabs={"error": error.TAB, "codes": codes.TAB, "standing": quality.TAB, "nf4": nf4.TAB},
    ),
)
