"""Which shapes go together, and what is really copied?"""

from functools import partial

from core.language import N_
from pages.shared.tabbed_page import Page, Tab, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs
from pages.tensors.broadcasting import shapes
from pages.tensors.broadcasting.inputs import ASK, choose_case
from pages.tensors.broadcasting.masks import choose_mask, masks
from pages.tensors.broadcasting.matmul import choose_factors, matmul
from pages.tensors.broadcasting.question import ask_about_empty_row

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        refusal=partial(refused_inputs, N_("No shapes to broadcast yet")),
        tabs={
            "shapes": shapes.TAB,
            "matmul": Tab(
                label=N_("Matmul"), show=matmul, choose=choose_factors, with_inputs=False
            ),
            "masks": Tab(
                label=N_("Masks"),
                show=masks,
                choose=choose_mask,
                with_inputs=False,
                question=ask_about_empty_row,
            ),
        },
    ),
)
