"""How many concurrent users can a device serve, and how fast?"""

from core.language import N_
from pages.plan.serving.inputs import ASK, choose_case, refusal
from pages.plan.serving.memory import heads, memory, two_plans
from pages.plan.serving.question import ask_how_many
from pages.plan.serving.speed import proof, roofline, speed, two_speeds
from pages.shared.tabbed_page import Page, Tab, tabbed_page

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        refusal=refusal,
        tabs={
            "memory": Tab(
                label=N_("Device memory"), show=memory, question=ask_how_many, compare=two_plans
            ),
            "heads": Tab(label=N_("KV cache"), show=heads, unseen=["sequences"]),
            "speed": Tab(label=N_("Speed"), show=speed, compare=two_speeds),
            "roofline": Tab(label=N_("Roofline"), show=roofline),
            "proof": Tab(label=N_("Published speeds"), show=proof, with_inputs=False),
        },
        snippet="serve",
    ),
)
