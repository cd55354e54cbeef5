"""A matrix product as aligned shapes: batches broadcast, the inner lengths meet."""

from collections.abc import Sequence

from core.figures.picture import Drawing, Look, Picture
from core.figures.tensors.broadcasting.boxes import (
    Box,
    Line,
    box_axes,
    boxes_height,
    draw_boxes,
    end_box,
    operand_box,
)
from core.language import _
from core.tensors.broadcasting import BroadcastVerdict, Column, matmul_shape

Shape = Sequence[int]


def product_picture(left: Shape, right: Shape, look: Look) -> Picture:
    """Return both shapes and the result's below one another: batch, rows, inner, columns."""
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
    *batch, inner = verdict.columns or (_no_column(),)
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
        Line(label=f"<b>x</b> {tuple(left)}", boxes=first, beside=""),
        Line(label=f"<b>y</b> {tuple(right)}", boxes=second, beside=""),
        Line(label=f"<b>x @ y</b> {written}", boxes=last, beside=""),
    ]


def _no_column() -> Column:
    return Column(dim=-1, lengths=(None, None), length=None, stretched=(False, False))


def _plain(length: int, name: str) -> Box:
    said = _("{name}: {length}, as in the result").format(name=name, length=length)
    return Box(text=str(length), state="kept", said=said)


def _made(box: Box | None, verdict: BroadcastVerdict) -> Box | None:
    return Box(text=box.text, state="result", said=box.said) if box and verdict.ok else None


def _inner_box(column: Column, side: int, text: str = "") -> Box | None:
    length = column.lengths[side]
    if length is None:
        return None
    if column.length is None:
        said = _("the inner lengths {one} and {other} must be equal")
        words = said.format(one=column.lengths[0], other=column.lengths[1])
        return Box(text=f"{length} ✗", state="refused", said=words)
    said = _("inner: {length} pairs of numbers are multiplied and added up")
    return Box(text=text or str(length), state="summed", said=said.format(length=length))


def _sentence(left: Shape, right: Shape, verdict: BroadcastVerdict) -> str:
    shapes = {"left": tuple(left), "right": tuple(right)}
    if verdict.ok:
        message = _(
            "{left} @ {right} gives {shape}; {inner} products are added up for each number."
        )
        return message.format(**shapes, shape=verdict.shape, inner=left[-1])
    return _("{left} @ {right} cannot be multiplied.").format(**shapes)
