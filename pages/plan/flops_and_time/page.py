"""How many FLOPs does training take, and how long?"""

from pages.plan.flops_and_time import (
    breakdown,
    compute_optimal,
    mfu,
    roofline,
    rule,
    training_time,
)
from pages.plan.flops_and_time.inputs import ASK, no_number
from pages.shared.tabbed_page import Page, tabbed_page

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        tabs={
            "time": training_time.TAB,
            "components": breakdown.TAB,
            "mfu": mfu.TAB,
            "roofline": roofline.TAB,
            "rule": rule.TAB,
            "budget": compute_optimal.TAB,
        },
        refusal=no_number,
    ),
)
