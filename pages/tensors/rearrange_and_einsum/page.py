"""What does a pattern do, and what does it cost?"""

from functools import partial

from core.language import N_
from pages.shared.tabbed_page import Page, Tab, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs
from pages.tensors.rearrange_and_einsum.attention import attention, choose_attention
from pages.tensors.rearrange_and_einsum.einsum import choose_einsum, einsum
from pages.tensors.rearrange_and_einsum.inputs import ASK
from pages.tensors.rearrange_and_einsum.pattern import choose_pattern, pattern
from pages.tensors.rearrange_and_einsum.question import ask_round_trip

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        tabs={
            "pattern": Tab(
                label=N_("Pattern"), show=pattern, choose=choose_pattern, question=ask_round_trip
            ),
            "einsum": Tab(label="einsum", show=einsum, choose=choose_einsum),
            "attention": Tab(label=N_("Attention"), show=attention, choose=choose_attention),
        },
        refusal=partial(refused_inputs, N_("This pattern is refused")),
    ),
)
