"""Why do sums, updates and gradients get lost in 16 bits?"""

from pages.dtypes.low_precision_training import loss_scale, softmax, sums, updates
from pages.dtypes.low_precision_training.inputs import ASK
from pages.shared.tabbed_page import Page, tabbed_page

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        tabs={
            "sums": sums.TAB,
            "updates": updates.TAB,
            "softmax": softmax.TAB,
            "scale": loss_scale.TAB,
        },
    ),
)
