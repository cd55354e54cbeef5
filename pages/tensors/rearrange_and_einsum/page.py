"""What does a pattern do, and what does it cost?"""

from functools import partial

from core.language import N_
from pages.shared.tabbed_page import Page, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs
from pages.tensors.rearrange_and_einsum import attention, einsum, pattern
from pages.tensors.rearrange_and_einsum.inputs import ASK

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        tabs={"pattern": pattern.TAB, "einsum": einsum.TAB, "attention": attention.TAB},
        refusal=partial(refused_inputs, N_("This pattern is refused")),
    ),
)
