"""Which shapes go together, and what is really copied?"""

from functools import partial

from core.language import N_
from pages.shared.tabbed_page import Page, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs
from pages.tensors.broadcasting import masks, matmul, shapes
from pages.tensors.broadcasting.inputs import ASK, choose_case

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        refusal=partial(refused_inputs, N_("No shapes to broadcast yet")),
        tabs={"shapes": shapes.TAB, "matmul": matmul.TAB, "masks": masks.TAB},
    ),
)
