"""What does a gradient say, and how does it get to its tensor?"""

from functools import partial

from core.language import N_
from pages.autograd.computation_graph import chain_rule, graph, saved
from pages.autograd.computation_graph.inputs import ASK, choose_case
from pages.autograd.computation_graph.question import ask_for_the_gradient
from pages.shared.tabbed_page import Page, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        snippet="gradients",
        choose=choose_case,
        refusal=partial(refused_inputs, N_("There is no such graph.")),
        question=ask_for_the_gradient,
        tabs={"graph": graph.TAB, "chain": chain_rule.TAB, "saved": saved.TAB},
    ),
)
