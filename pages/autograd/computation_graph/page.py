"""What does a gradient say, and how does it get to its tensor?"""

from functools import partial

from core.language import N_
from pages.autograd.computation_graph.chain_rule import chain_rule
from pages.autograd.computation_graph.differences import differences
from pages.autograd.computation_graph.graph import graph
from pages.autograd.computation_graph.inputs import ASK, choose_case
from pages.autograd.computation_graph.nodes import nodes
from pages.autograd.computation_graph.question import ask_for_the_gradient
from pages.autograd.computation_graph.saved import saved
from pages.shared.tabbed_page import Page, Tab, tabbed_page
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
        tabs={
            "graph": Tab(label=N_("Graph"), show=graph),
            "chain": Tab(label=N_("Chain rule"), show=chain_rule),
            "check": Tab(label=N_("Finite differences"), show=differences),
            "saved": Tab(label=N_("Saved tensors"), show=saved),
            "nodes": Tab(label=N_("All nodes"), show=nodes),
        },
    ),
)
