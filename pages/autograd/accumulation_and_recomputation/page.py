"""What is kept for the backward pass, and what does backward add to?"""

from functools import partial

from core.language import N_
from pages.autograd.accumulation_and_recomputation.checkpointing import checkpointing
from pages.autograd.accumulation_and_recomputation.counting import choose_counting, counting
from pages.autograd.accumulation_and_recomputation.inputs import ASK, choose_case
from pages.autograd.accumulation_and_recomputation.pieces import choose_pieces, pieces
from pages.autograd.accumulation_and_recomputation.question import (
    ask_after_three_calls,
    ask_why_no_gain,
)
from pages.autograd.accumulation_and_recomputation.trade_off import trade_off
from pages.shared.tabbed_page import Page, Tab, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        question=ask_why_no_gain,
        refusal=partial(refused_inputs, N_("This is not run.")),
        tabs={
            "checkpointing": Tab(label=N_("Activation checkpointing"), show=checkpointing),
            "counting": Tab(
                label=N_("Gradient accumulation"),
                show=counting,
                with_inputs=False,
                choose=choose_counting,
                question=ask_after_three_calls,
            ),
            "pieces": Tab(
                label=N_("Micro-batches"), show=pieces, unseen=("segment",), choose=choose_pieces
            ),
            "trade": Tab(label=N_("Memory against compute"), show=trade_off, unseen=("segment",)),
        },
    ),
)
