"""How many concurrent users can a device serve, and how fast?"""

from pages.plan.serving import kv_cache, memory, speed
from pages.plan.serving.inputs import ASK, choose_case
from pages.shared.plan.verdict import plan_line, refusal
from pages.shared.tabbed_page import Page, tabbed_page

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        refusal=refusal,
        line=lambda case: plan_line(case.chosen, "serve"),
        tabs={"memory": memory.TAB, "heads": kv_cache.TAB, "speed": speed.TAB},
        snippet="serve",
    ),
)
