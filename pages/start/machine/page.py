"""What can this machine do with PyTorch?"""

from core.language import N_
from pages.shared.tabbed_page import Page, Tab, tabbed_page
from pages.start.machine.environment import environment, stack
from pages.start.machine.errors import errors
from pages.start.machine.inputs import ASK, choose_plan
from pages.start.machine.install import install, no_wheel
from pages.start.machine.question import ask_for_the_plain_line

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        tabs={
            "machine": Tab(label=N_("Machine"), show=environment),
            "stack": Tab(label=N_("Stack"), show=stack),
            "install": Tab(label=N_("Install"), show=install, choose=choose_plan),
            "errors": Tab(label=N_("PyTorch errors"), show=errors),
        },
        refusal=no_wheel,
        question=ask_for_the_plain_line,
    ),
)
