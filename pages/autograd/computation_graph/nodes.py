"""Every node in one table, with its work; and the capture as a file."""

from typing import Final

import streamlit as st

from core.autograd.export import to_json
from core.autograd.graph import Node
from core.figures.autograd.computation_graph.work import work_picture
from core.language import _
from core.units import format_flops, format_seconds
from pages.autograd.computation_graph.inputs import ASK, Case
from pages.autograd.computation_graph.snippets import snippet
from pages.components.computation_graph.texts import gradient_text, tensor_text
from pages.shared.charts import show_table, table_csv
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

FEW: Final = 8  # nodes on a projector


def nodes(case: Case) -> Shown:
    """Show work per node forward and backward, and all nodes in the order of the forward pass."""
    capture = case.capture
    worked = [node for node in capture.nodes if node.flops_forward or node.flops_backward]
    charts = [Chart(picture=work_picture(worked, look()), file_name="work")] if worked else []
    return Shown(
        headline=_headline(case, worked),
        charts=charts,
        below=None if presenting() and charts else lambda: _below(case),
        code=snippet(case),
    )


def _headline(case: Case, worked: list[Node]) -> str:
    forward = sum(node.flops_forward for node in worked)
    backward = sum(node.flops_backward for node in worked)
    if not forward:
        message = _("{count} nodes; none of them is a matrix product, so no FLOPs are counted")
        return message.format(count=len(case.capture.nodes))
    message = _("Backward takes {backward}, {ratio} times the {forward} of the forward pass")
    return message.format(
        backward=format_flops(backward), forward=format_flops(forward),
        ratio=f"{backward / forward:.3g}",
    )  # fmt: skip


def _below(case: Case) -> None:
    if presenting():
        show_table(_short(_table(case.capture.nodes[:FEW])))
        return
    table = _table(case.capture.nodes)
    show_table(table)
    with st.container(horizontal=True):
        st.download_button("CSV", table_csv(table), file_name="nodes.csv", mime="text/csv",
                           key=ASK.key("csv"))  # fmt: skip
        st.download_button("JSON", to_json(case.capture), file_name="capture.json",
                           mime="application/json", key=ASK.key("json"))  # fmt: skip


def _table(nodes: tuple[Node, ...]) -> dict[str, list[str]]:
    return {
        _("Label"): [node.label for node in nodes],
        _("Node"): [node.type for node in nodes],
        _("Module"): [node.module for node in nodes],
        _("Value"): [tensor_text(node.outputs[0] if node.outputs else None) for node in nodes],
        _("Gradient"): [
            gradient_text(node.gradients_in[0] if node.gradients_in else None) for node in nodes
        ],
        _("Turn"): ["" if node.order is None else str(node.order + 1) for node in nodes],
        _("FLOPs forward"): [_flops(node.flops_forward) for node in nodes],
        _("FLOPs backward"): [_flops(node.flops_backward) for node in nodes],
        _("Time, with hooks"): [
            format_seconds(node.seconds) if node.seconds else "" for node in nodes
        ],
    }


def _short(table: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the columns that large letters leave room for."""
    names = (_("Label"), _("Value"), _("Gradient"), _("Turn"))
    return {name: table[name] for name in names}


def _flops(count: int) -> str:
    return format_flops(count) if count else ""
