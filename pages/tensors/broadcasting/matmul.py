"""Matrix products: which batches go together, the FLOPs, and the copies that nobody wrote."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.budget.by_hand.rules import copied_bytes, matmul_flops, stored_bytes
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.tensors.broadcasting import BroadcastVerdict, Column, matmul_shape, matmul_sizes
from core.tensors.examples import DTYPES, PRODUCTS, titles
from core.tensors.shape_text import Shape, shape_in, written_shape
from core.tensors.torch_answers import matmul_refusal, run_matmul
from core.tensors.trace import Step
from core.units import format_flops
from pages.shared.charts import show_table
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.shared.tensors.examples import offer_examples
from pages.shared.tensors.program import show_torch
from pages.shared.tensors.table_cells import aten_columns, size_text
from pages.tensors.broadcasting.boxes import (
    Box,
    Line,
    box_axes,
    boxes_height,
    draw_boxes,
    end_box,
    operand_box,
)
from pages.tensors.broadcasting.inputs import ASK, ask_shape, choose_dim, drag_lengths

_CODE: Final = """
import torch
from torch.utils._python_dispatch import TorchDispatchMode

copied = []


class Watch(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {{}}))
        if function is torch.ops.aten.clone.default:
            copied.append(result.nbytes)
        return result


x = torch.empty({left}, dtype=torch.{dtype}, device="meta")
y = torch.empty({right}, dtype=torch.{dtype}, device="meta")
try:
    with Watch():
        z = x @ y
    print(tuple(z.shape), 2 * z.numel() * x.shape[-1], "FLOPs", sum(copied), "bytes copied")
except RuntimeError as error:
    print(error)
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Factors:
    """The shapes of both sides, and their dtype."""

    left: Shape
    right: Shape
    dtype: str


def choose_factors() -> Factors:
    with st.container(horizontal=True, key=ASK.key("mrow")):
        offer_examples(ASK, "product", titles(PRODUCTS), _settings)
        with st.popover(_("Settings"), icon=":material/tune:", key=ASK.key("msettings")):
            starts = zip("xy", PRODUCTS["linear"].shapes, strict=True)
            texts = {name: ask_shape(name, start) for name, start in starts}
            dtype = ASK.selectbox("mdtype", "dtype", tuple(DTYPES), default="float32")
    dim = choose_dim("mdim", -1)
    shapes = {name: shape_in(text) for name, text in texts.items()}
    drag_lengths(shapes, dim)
    return Factors(left=shapes["x"], right=shapes["y"], dtype=dtype)


def _settings(key: str) -> dict[str, object]:
    left, right = map(written_shape, PRODUCTS[key].shapes)
    return {"x": left, "y": right}


def matmul(factors: Factors) -> Shown:
    left, right = factors.left, factors.right
    charts = [Chart(picture=product_picture(left, right, look()), file_name="matmul")]
    code = _CODE.format(left=left, right=right, dtype=factors.dtype)
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
    step, flops = run_matmul(left, right, factors.dtype), matmul_flops(**matmul_sizes(left, right))
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


def product_picture(left: Shape, right: Shape, look: Look) -> Picture:
    verdict, drawing = matmul_shape(left, right), Drawing()
    columns = [_("batch")] * max(len(left) - 2, len(right) - 2, 0)
    columns += [_("rows"), _("inner"), _("columns")]
    lines = _lines(left, right, verdict)
    draw_boxes(drawing, columns, lines, look, None)
    layout = look.layout() | box_axes(columns, lines, look)
    size = layout["font"]["size"]
    fields = {
        "height": boxes_height(len(lines), look) + 3 * size,
        "margin": {"l": 8, "r": 8, "t": 2 * size, "b": 4},
        "showlegend": False,
    }
    table = {" ": [line.label.replace("<b>", "").replace("</b>", "") for line in lines]}
    for place, name in enumerate(columns):
        boxes = [line.boxes[place] for line in lines]
        title = f"{name} {place + 1}" if place < len(columns) - 3 else name
        table[title] = [box.text if box else "" for box in boxes]
    return Picture(
        figure=drawing.figure(layout | fields), alt=_sentence(left, right, verdict), table=table
    )


def _lines(left: Shape, right: Shape, verdict: BroadcastVerdict) -> list[Line]:
    missing = Column(dim=-1, lengths=(None, None), length=None, stretched=(False, False))
    *batch, inner = verdict.columns or (missing,)
    rows = _plain(left[-2], _("rows")) if len(left) > 1 else None
    columns = _plain(right[-1], _("columns")) if len(right) > 1 else None
    first = [*(operand_box(each, 0) for each in batch), rows, _inner_box(inner, 0), None]
    second = [*(operand_box(each, 1) for each in batch), None, _inner_box(inner, 1), columns]
    last = [
        *(end_box(each) for each in batch),
        _made(rows, verdict),
        _inner_box(inner, 0, "Σ") if verdict.ok else None,
        _made(columns, verdict),
    ]
    written = str(verdict.shape) if verdict.ok else "✗"
    return [
        Line(label=f"<b>x</b> {left}", boxes=first, beside=""),
        Line(label=f"<b>y</b> {right}", boxes=second, beside=""),
        Line(label=f"<b>x @ y</b> {written}", boxes=last, beside=""),
    ]


def _plain(length: int, name: str) -> Box:
    said = _("{name}: {length}, as in the result").format(name=name, length=length)
    return Box(text=str(length), state="kept", said=said)


def _made(box: Box | None, verdict: BroadcastVerdict) -> Box | None:
    return Box(text=box.text, state="result", said=box.said) if box and verdict.ok else None


def _inner_box(column: Column, number: int, text: str = "") -> Box | None:
    length = column.lengths[number]
    if length is None:
        return None
    if column.length is None:
        said = _("the inner lengths {one} and {other} must be equal")
        words = said.format(one=column.lengths[0], other=column.lengths[1])
        return Box(text=f"{length} ✗", state="refused", said=words)
    said = _("inner: {length} pairs of numbers are multiplied and added up")
    return Box(text=text or str(length), state="summed", said=said.format(length=length))


def _sentence(left: Shape, right: Shape, verdict: BroadcastVerdict) -> str:
    shapes = {"left": left, "right": right}
    if verdict.ok:
        message = _(
            "{left} @ {right} gives {shape}; {inner} products are added up for each number."
        )
        return message.format(**shapes, shape=verdict.shape, inner=left[-1])
    return _("{left} @ {right} cannot be multiplied.").format(**shapes)


TAB: Final = Tab(label=N_("Matmul"), show=matmul, choose=choose_factors, with_inputs=False)
