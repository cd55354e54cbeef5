"""How many concurrent users can a device serve, and how fast?"""

from core.language import N_
from pages.budget.serving.inputs import ASK, choose_case, refusal
from pages.budget.serving.memory import heads, memory
from pages.budget.serving.question import ask_how_many
from pages.budget.serving.speed import proof, roofline, speed
from pages.shared.tabbed_page import Page, Tab, tabbed_page

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        refusal=refusal,
        tabs={
            "memory": Tab(label=N_("Device memory"), show=memory, question=ask_how_many),
            "heads": Tab(label=N_("KV cache"), show=heads, unseen=["sequences"]),
            "speed": Tab(label=N_("Speed"), show=speed),
            "roofline": Tab(label=N_("Roofline"), show=roofline),
            "proof": Tab(label=N_("Published speeds"), show=proof, with_inputs=False),
        },
        snippet="serve",
    ),
)
