"""What does a training recipe buy, and with what?"""

from functools import partial

from core.language import N_
from pages.shared.tabbed_page import Page, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs
from pages.train.compare_recipes import at_scale, in_turns
from pages.train.compare_recipes.inputs import ASK, choose_case
from pages.train.compare_recipes.question import ask_what_differs

tabbed_page(__file__, __doc__, Page(
    inputs=ASK, choose=choose_case, question=ask_what_differs,
    refusal=partial(refused_inputs, N_("There is nothing to compare.")),
    tabs={"turns": in_turns.TAB, "scale": at_scale.TAB},
))  # fmt: skip
