"""Why did it run out of memory?"""

from pages.plan.diagnose import out_of_memory, snapshot
from pages.plan.diagnose.inputs import ASK, choose_case
from pages.plan.diagnose.question import ask_what_was_asked_for
from pages.shared.plan.verdict import refusal
from pages.shared.tabbed_page import Page, tabbed_page

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        tabs={"memory": out_of_memory.TAB, "snapshot": snapshot.TAB},
        question=ask_what_was_asked_for,
        refusal=refusal,
        snippet="suspect",
    ),
)
