"""What is there to learn here, and what can I do already?"""

from pages.shared.tabbed_page import Page, tabbed_page
from pages.start.lessons import lists
from pages.start.lessons.inputs import ASK
from pages.start.lessons.take_away import ask_for_state

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        tabs={"list": lists.TAB},
        question=ask_for_state,
        snippet="rules",
        reading=lambda: None,  # its words stand on the card
    ),
)
