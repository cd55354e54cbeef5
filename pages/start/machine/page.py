"""What can this machine do with PyTorch?"""

from pages.shared.tabbed_page import Page, tabbed_page
from pages.start.machine import errors, machine, stack
from pages.start.machine.inputs import ASK

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        tabs={"machine": machine.TAB, "stack": stack.TAB, "errors": errors.TAB},
        refusal=machine.no_wheel,
        question=machine.ask_for_the_plain_line,
    ),
)
