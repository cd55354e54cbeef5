"""What is there to learn here, and what can I do already?"""

from core.language import N_
from pages.shared.tabbed_page import Page, Tab, tabbed_page
from pages.start.lessons.inputs import ASK, choose_lessons
from pages.start.lessons.lists import lesson_list, self_check
from pages.start.lessons.take_away import ask_for_state, choose_numbers, take_away

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        tabs={
            "list": Tab(label=N_("Lessons"), show=lesson_list, choose=choose_lessons),
            "check": Tab(label=N_("Self-check"), show=self_check),
            "card": Tab(
                label=N_("Take-away card"),
                show=take_away,
                choose=choose_numbers,
                question=ask_for_state,
            ),
        },
        snippet="rules",
        reading=lambda: None,  # its words stand on the card
    ),
)
