"""All that is known about the chosen node, and where else it can be looked at."""

from collections.abc import Sequence
from typing import Final

import streamlit as st

from core.autograd.collapse import Box
from core.autograd.formulas import described, formula_of, substituted
from core.autograd.graph import Ghost, Node, Saved, TensorInfo
from core.autograd.program import capture_program
from core.dtypes import FORMATS
from core.language import _
from core.units import format_bytes, format_flops, format_seconds
from pages.autograd.computation_graph.inputs import ASK, Case
from pages.components.bit_grid.bit_grid import hex_code
from pages.components.computation_graph.texts import number_text, tensor_text
from pages.shared.charts import show_table
from pages.shared.page_links import show_link
from pages.shared.settings import unit_system
from pages.shared.tensors.lengths import LENGTHS

MOST_LINKS: Final = 3  # to the saved tensors of one node


def inspect(case: Case, box: Box) -> None:
    """Show the node of a box; of a module, what its nodes come to."""
    both: tuple[Node | Ghost, ...] = (*case.capture.nodes, *case.capture.ghosts)
    members = {each.id: each for each in both}
    inside = [members[each] for each in box.members]
    with st.container(key=ASK.key("inspector")):
        if len(inside) > 1:
            _show_module(box)
        elif isinstance(inside[0], Ghost):
            st.markdown(f"`{inside[0].label}` = {_told(inside[0].output)}")
        else:
            _show_node(case, inside[0])


def _show_module(box: Box) -> None:
    size = format_bytes(box.saved_bytes, unit_system())
    show_table(
        {
            _("Module"): [box.label],
            _("Nodes"): [len(box.members)],
            _("Saved for backward"): [size],
            _("FLOPs forward"): [format_flops(box.flops_forward)],
            _("FLOPs backward"): [format_flops(box.flops_backward)],
        }
    )


def _show_node(case: Case, node: Node) -> None:
    st.markdown(f"**`{node.label}`** · {node.type}")
    if formula := formula_of(node):
        st.latex(rf"{formula.forward} \qquad {formula.latex}")
    if numbers := substituted(node, case.capture.edges):
        st.latex(numbers)
    st.caption(described(node))
    if case.built is None and not node.leaf:
        _offer_jacobian(case, node)
    show_table(
        {
            _("Value"): [", ".join(_told(each) for each in node.outputs)],
            _("Gradient"): [", ".join(_told(each) for each in node.gradients_in) or "–"],
            _("Minimum … maximum, norm"): [_spread(node.outputs[:1])],
            _("of the gradient"): [_spread(node.gradients_in[:1])],
            _("Turn in backward"): ["–" if node.order is None else str(node.order + 1)],
            _("Saved for backward"): [", ".join(map(_kept, node.saved)) or "–"],
            _("Module"): [node.module or "–"],
            _("Line"): [str(node.line or "–")],
            _("Time, with hooks"): [format_seconds(node.seconds) if node.seconds else "–"],
        }
    )
    _links(case, node)


def _offer_jacobian(case: Case, node: Node) -> None:
    """Show how each element of the output moves with each element of the inputs, if asked for."""
    if not ASK.toggle(
        "jacobian",
        _("Local Jacobian"),
        default=False,
        help=_("The node itself is called with one-hot gradients: a row an element of its output."),
    ):
        return
    found = capture_program(case.source, case.leaves, jacobian_of=node.id).jacobian
    if not any(found):
        st.caption(_("This output has more than 16 elements, or its inputs more than 256."))
    for number, matrix in enumerate(found, start=1):
        if matrix is not None:
            rows = r" \\ ".join(" & ".join(number_text(each) for each in row) for row in matrix)
            st.latex(rf"J_{{{number}}} = \begin{{pmatrix}} {rows} \end{{pmatrix}}")


def _spread(infos: Sequence[TensorInfo | None]) -> str:
    """Return a tensor's extremes and norm; NaN and infinities by their count."""
    numbers = infos[0].statistics if infos and infos[0] is not None else None
    if numbers is None or numbers.minimum is None or numbers.maximum is None:
        return "–"
    text = f"{number_text(numbers.minimum)} … {number_text(numbers.maximum)}"
    text += f", {number_text(numbers.norm)}" if numbers.norm is not None else ""
    return f"{text}, NaN: {numbers.num_nan}, ∞: {numbers.num_inf}" if numbers.norm is None else text


def _kept(saved: Saved) -> str:
    """Return a saved tensor's name and shape; of a packed one nobody knows the shape."""
    return f"{saved.name} {saved.tensor.shape}" if saved.tensor.dtype else saved.name


def _told(info: TensorInfo | None) -> str:
    if info is None:
        return "–"
    return f"{tensor_text(info)} ({info.dtype})"


def _links(case: Case, node: Node) -> None:
    """Lead a leaf's gradient to its bits, and a saved tensor to its strides."""
    with st.container(horizontal=True, key=ASK.key("elsewhere")):
        leaf = case.capture.leaves.get(node.leaf)
        if leaf is not None and leaf.grad is not None and leaf.grad.values:
            for name in ("float16", "bfloat16"):
                _to_bits(name, leaf.grad.values[0])
        for saved in node.saved[:MOST_LINKS]:
            _to_strides(saved)


def _to_bits(name: str, value: float) -> None:
    fmt = FORMATS[name]
    label = _("This gradient in {dtype} →").format(dtype=name)
    code = hex_code(fmt, int(fmt.encode(value)))
    query = {"bits_tab": "grid", "bits_format": name, "bits_code": code}
    show_link("dtypes/bit_layouts", label, query)


def _to_strides(saved: Saved) -> None:
    """Open a saved tensor where its elements lie: as it is, or as the transpose of its storage."""
    shape = saved.tensor.shape
    is_transposed = len(shape) > 1 and shape[-2] > 1 and saved.stride[-2:] == (1, shape[-2])
    *leading, rows, columns = (
        0,
        *((*shape[:-2], shape[-1], shape[-2]) if is_transposed else shape),
    )
    if not shape or not {rows, columns} <= {0, *LENGTHS}:
        return  # a single number, packed by a checkpoint, or longer than that page has
    query = {
        "strides_columns": str(columns),
        "strides_rows": str(rows),
        "strides_leading": ", ".join(map(str, leading[1:])),
        "strides_code": "y = x.mT" if is_transposed else "y = x.clone()",
    }
    label = _("Where the saved “{name}” lies →").format(name=saved.name)
    show_link("tensors/strides_and_views", label, query)
