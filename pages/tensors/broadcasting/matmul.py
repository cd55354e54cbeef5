"""Matrix products: which batches go together, the FLOPs, and the copies that nobody wrote."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from core.budget.by_hand.rules import copied_bytes, matmul_flops, stored_bytes
from core.figures.tensors.broadcasting.product import product_picture
from core.language import _
from core.tensors.broadcast_examples import PRODUCT_BY_KEY, PRODUCTS
from core.tensors.broadcasting import matmul_shape, matmul_sizes
from core.tensors.presets import DTYPES
from core.tensors.shape_text import Shape, shape_in, written_shape
from core.tensors.torch_answers import matmul_refusal, run_matmul
from core.tensors.trace import Step
from core.units import format_flops
from pages.shared.charts import show_table
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown
from pages.shared.tensors.examples import offer_examples
from pages.shared.tensors.program import show_torch
from pages.shared.tensors.table_cells import aten_columns, size_text
from pages.tensors.broadcasting.inputs import ASK, ask_shape, choose_dim, drag_lengths
from pages.tensors.broadcasting.snippets import matmul_code


@dataclass(frozen=True, kw_only=True, slots=True)
class Factors:
    """The shapes of both sides, and their dtype."""

    left: Shape
    right: Shape
    dtype: str


def choose_factors() -> Factors:
    """Ask for two shapes.

    Raises:
        ValueError: If a text is no shape.
    """
    with st.container(horizontal=True, key=ASK.key("mrow")):
        titles = {product.key: _(product.title) for product in PRODUCTS}
        offer_examples(ASK, "product", titles, _settings)
        with st.popover(_("Settings"), icon=":material/tune:", key=ASK.key("msettings")):
            texts = {
                "x": ask_shape("x", PRODUCTS[0].left),
                "y": ask_shape("y", PRODUCTS[0].right),
            }
            dtype = ASK.selectbox("mdtype", "dtype", tuple(DTYPES), default="float32")
    dim = choose_dim("mdim", -1)
    shapes = {name: shape_in(text) for name, text in texts.items()}
    drag_lengths(shapes, dim)
    return Factors(left=shapes["x"], right=shapes["y"], dtype=dtype)


def _settings(key: str) -> dict[str, object]:
    product = PRODUCT_BY_KEY[key]
    return {"x": written_shape(product.left), "y": written_shape(product.right)}


def matmul(factors: Factors) -> Shown:
    left, right = factors.left, factors.right
    charts = [Chart(picture=product_picture(left, right, look()), file_name="matmul")]
    code = matmul_code(left, right, factors.dtype)
    if not matmul_shape(left, right).ok:
        return Shown(
            headline=_refusal(left, right),
            charts=charts,
            below=lambda: show_torch(matmul_refusal(left, right)),
            code=code,
        )
    return _product(factors, charts, code)


def _product(factors: Factors, charts: Sequence[Chart], code: str) -> Shown:
    left, right = factors.left, factors.right
    step, sizes = run_matmul(left, right, factors.dtype), matmul_sizes(left, right)
    flops = matmul_flops(
        batch=sizes.num_products, rows=sizes.rows, inner=sizes.inner, columns=sizes.columns
    )
    result, hidden = step.outputs[0].layout, step.bytes_hidden
    return Shown(
        headline=_("{left} @ {right} → {shape}: {flops}, {size} of the operands copied").format(
            left=left,
            right=right,
            shape=result.shape,
            flops=format_flops(flops.amount),
            size=size_text(hidden),
        ),
        charts=charts,
        numbers=[
            ("FLOPs", flops),
            (_("Result"), stored_bytes("result", result.numel, result.itemsize)),
            (_("Copied operands"), copied_bytes(hidden)),
        ],
        numbers_below=True,
        below=(lambda: _show_underneath(step)) if hidden and not presenting() else None,
        code=code,
    )


def _refusal(left: Shape, right: Shape) -> str:
    shapes = {"left": left, "right": right}
    verdict = matmul_shape(left, right)
    if not verdict.columns:
        message = _("{left} @ {right} cannot be multiplied: a single number has no dimension")
        return message.format(**shapes)
    *batch, inner = verdict.columns
    if inner.length is None:
        message = _(
            "{left} @ {right} cannot be multiplied: the inner lengths are {one} and {other}"
        )
        return message.format(**shapes, one=inner.lengths[0], other=inner.lengths[1])
    wrong = next(each for each in batch if each.length is None)
    message = _("{left} @ {right} cannot be multiplied: the batch lengths are {one} and {other}")
    return message.format(**shapes, one=wrong.lengths[0], other=wrong.lengths[1])


def _show_underneath(step: Step) -> None:
    """List what torch ran: a clone is a copy of an operand, batch by batch."""
    st.caption(
        _("Stretched batches cannot be merged into one dimension by a view, so torch copies them "
          "before the product `bmm`:")
    )  # fmt: skip
    show_table(aten_columns([row for row in step.aten if row.num_bytes]))
