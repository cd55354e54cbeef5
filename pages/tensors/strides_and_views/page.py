"""Where does an element of a tensor lie?"""

from functools import partial

from core.language import N_
from pages.shared.tabbed_page import Page, Tab, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs
from pages.tensors.strides_and_views.access import access
from pages.tensors.strides_and_views.inputs import ASK, choose_case
from pages.tensors.strides_and_views.question import ask_after_transpose, ask_challenge
from pages.tensors.strides_and_views.steps import steps
from pages.tensors.strides_and_views.storage import storage
from pages.tensors.strides_and_views.why import why

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        refusal=partial(refused_inputs, N_("There is no such tensor.")),
        tabs={
            "storage": Tab(
                label=N_("Storage and strides"), show=storage, question=ask_after_transpose
            ),
            "why": Tab(label=N_("Why view refuses"), show=why),
            "steps": Tab(label=N_("Step by step"), show=steps, question=ask_challenge),
            "access": Tab(label=N_("Access cost"), show=access),
        },
    ),
)
