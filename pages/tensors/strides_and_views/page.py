"""Where does an element of a tensor lie?"""

from functools import partial

from core.language import N_
from pages.shared.tabbed_page import Page, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs
from pages.tensors.strides_and_views import storage, why
from pages.tensors.strides_and_views.inputs import ASK, choose_case

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        refusal=partial(refused_inputs, N_("There is no such tensor.")),
        tabs={"storage": storage.TAB, "why": why.TAB},
    ),
)
