"""The chain rule of this very graph: each node's formula with its numbers, in turn."""

from typing import Final

import streamlit as st

from core.autograd.formulas.substitution import described, holds, substituted
from core.autograd.formulas.table import formula_of
from core.autograd.graph import Node
from core.language import _, ngettext
from pages.autograd.computation_graph.inputs import ASK, Case
from pages.autograd.computation_graph.snippets import snippet
from pages.shared.settings import presenting
from pages.shared.tabbed_page import Shown

MOST: Final = 24  # formulas in sight


def chain_rule(case: Case) -> Shown:
    """List the nodes that ran with what each multiplies its incoming gradient by."""
    by_id = {node.id: node for node in case.capture.nodes}
    ran = [by_id[key] for key in case.capture.order if not by_id[key].leaf]
    with st.container(key=ASK.key("formulas")):
        for number, node in enumerate(ran[: MOST // 4 if presenting() else MOST], start=1):
            _show(case, number, node)
    left = len(ran) - MOST
    more = ngettext("{count} further node is not listed.", "{count} further nodes are not listed.",
                    max(left, 0))  # fmt: skip
    return Shown(
        headline=_headline(case, ran),
        notes=[more.format(count=left)] if left > 0 else [],
        code=snippet(case),
    )


def _headline(case: Case, ran: list[Node]) -> str:
    if not ran:
        return _("No node ran: there is no gradient to follow")
    known = sum(holds(node, case.capture.edges) for node in ran)
    message = ngettext(
        "{count} derivative, one after another, gives every gradient",
        "{count} derivatives, one after another, give every gradient",
        len(ran),
    )
    if known < len(ran):
        message += " " + _("({known} of them written out here)")
    return message.format(count=len(ran), known=known)


def _show(case: Case, number: int, node: Node) -> None:
    formula = formula_of(node.type)
    if presenting():  # letters are larger: one stands below the other
        label = rule = numbers = st.container()
    else:
        label, rule, numbers = st.columns([2, 3, 4])
    label.markdown(f"{number}. `{node.label}`")
    if formula is not None and formula.inputs and holds(node, case.capture.edges):
        rule.latex(formula.latex)
    else:
        rule.caption(described(node, case.capture.edges))
    if text := substituted(node, case.capture.edges):
        numbers.latex(text)
