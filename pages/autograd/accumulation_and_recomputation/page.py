"""What is kept for the backward pass, and what does backward add to?"""

from functools import partial

from core.language import N_
from pages.autograd.accumulation_and_recomputation import accumulation, checkpointing, trade_off
from pages.autograd.accumulation_and_recomputation.inputs import ASK, choose_case
from pages.shared.tabbed_page import Page, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        question=checkpointing.ask_why_no_gain,
        refusal=partial(refused_inputs, N_("This is not run.")),
        tabs={
            "checkpointing": checkpointing.TAB,
            "counting": accumulation.TAB,
            "trade": trade_off.TAB,
        },
    ),
)
