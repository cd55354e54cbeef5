"""Which of these statements and programs are wrong?"""

from functools import partial

from core.language import N_
from pages.shared.tabbed_page import Page, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs
from pages.start.spot_the_bug import all_cards, card
from pages.start.spot_the_bug.inputs import ASK, choose_case

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        refusal=partial(refused_inputs, N_("This card is not run.")),
        tabs={"card": card.TAB, "all": all_cards.TAB},
    ),
)
