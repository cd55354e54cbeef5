"""How many bytes do the weights of a model take?"""

from pages.plan.model_sizes import gguf, one_model, parts
from pages.plan.model_sizes.inputs import ASK, choose_case
from pages.shared.plan.verdict import plan_line, refusal
from pages.shared.tabbed_page import Page, tabbed_page

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        line=lambda case: plan_line(case.chosen, case.chosen.plan.work),
        refusal=refusal,
        tabs={
            "model": one_model.TAB,
            "gguf": gguf.TAB,
            "parts": parts.TAB,
        },
    ),
)
