"""What happens inside a GPT between your text and its next token?"""

from functools import partial

from core.language import N_
from pages.models.inside_gpt import attention, depth, generation, stages, tokens
from pages.models.inside_gpt.inputs import ASK, choose_case
from pages.shared.tabbed_page import Page, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        snippet="inside",
        choose=choose_case,
        refusal=partial(refused_inputs, N_("This cannot be shown.")),
        question=depth.ask_for_the_first_chance,
        tabs={
            "depth": depth.TAB,
            "tokens": tokens.TAB,
            "stages": stages.TAB,
            "attention": attention.TAB,
            "generation": generation.TAB,
        },
    ),
)
