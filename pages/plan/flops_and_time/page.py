"""How many FLOPs does training take, and how long?"""

from pages.plan.flops_and_time import breakdown, compute_optimal, mfu, roofline, rule, training_time
from pages.plan.flops_and_time.inputs import ASK, no_number
from pages.shared.plan.plan import Chosen
from pages.shared.plan.verdict import plan_line
from pages.shared.tabbed_page import Page, tabbed_page

CHOOSE = {
    "components": breakdown.choose,
    "mfu": mfu.choose,
    "roofline": roofline.choose,
    "rule": rule.choose,
    "budget": compute_optimal.choose,
}


def choose() -> Chosen:
    """Show what the open tab asks for, of the plan and beside it."""
    return CHOOSE.get(ASK.used("tab"), training_time.choose)()


def line(chosen: Chosen) -> str:
    """Return whether the plan fits; "" beside two layers or one product, which are no plan."""
    if isinstance(chosen.own, mfu.Product | rule.TwoLayers):
        return ""
    return plan_line(chosen, "serve" if isinstance(chosen.own, roofline.Below) else "train")


tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose,
        line=line,
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
