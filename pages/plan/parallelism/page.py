"""What does each device hold, and what must it send?"""

from pages.plan.parallelism import collectives, communication_time, ddp_and_fsdp, pipeline, stages
from pages.plan.parallelism.inputs import ASK, choose_case, refusal
from pages.shared.plan.verdict import plan_line
from pages.shared.tabbed_page import Page, tabbed_page

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        refusal=refusal,
        line=lambda case: plan_line(case.chosen, "train"),
        tabs={
            "sharding": ddp_and_fsdp.TAB,
            "stages": stages.TAB,
            "moving": collectives.TAB,
            "links": communication_time.TAB,
            "schedule": pipeline.TAB,
        },
        snippet="parallel",
    ),
)
