"""Shapes that are broadcast: aligned from the right, and what the last two dimensions become."""

from typing import Final

from core.figures.picture import Drawing, Look, Picture, Table
from core.figures.tensors.broadcasting.boxes import (
    Line,
    box_axes,
    boxes_height,
    draw_boxes,
    end_box,
    operand_box,
)
from core.figures.tensors.broadcasting.grids import can_draw_grids, draw_grids, grid_axes
from core.language import _
from core.tensors.operands import Broadcast

HEIGHT_PX: Final = 430
PRESENT_HEIGHT_PX: Final = 420
_LEAST: Final = 4  # of the text's size, that the grids need


def alignment_picture(case: Broadcast, chosen: int | None, look: Look) -> Picture:
    """Return the shapes below one another, the result's at the end, and below them the grids.

    Args:
        case: What is broadcast.
        chosen: The dimension with a frame, counted from the right: -1 is the last.
        look: How the reader wants to see.
    """
    drawing = Drawing()
    columns = [str(column.dim).replace("-", "−") for column in case.verdict.columns]
    lines = _lines(case, look)
    draw_boxes(drawing, columns, lines, look, chosen)
    layout = look.layout() | box_axes(columns, lines, look)
    size, boxes = layout["font"]["size"], boxes_height(len(lines), look)
    top, bottom, gap = 2 * size, round(3.2 * size), 2 * size
    inner = (PRESENT_HEIGHT_PX if look.present else HEIGHT_PX) - top - bottom
    if can_draw_grids(case) and inner - boxes - gap > _LEAST * size:
        draw_grids(drawing, case, look)
        layout["yaxis"]["domain"] = [1 - boxes / inner, 1]
        layout |= grid_axes(case, 1 - (boxes + gap) / inner)
    else:
        inner, bottom = boxes, 4
    fields = {
        "height": top + inner + bottom,
        "margin": {"l": 8, "r": 8, "t": top, "b": bottom},
        "showlegend": False,
        "clickmode": "event+select",
    }
    return Picture(figure=drawing.figure(layout | fields), alt=_sentence(case), table=_table(case))


def _lines(case: Broadcast, look: Look) -> list[Line]:
    lines = []
    for number, operand in enumerate(case.operands):
        beside = _("strides {stride}").format(stride=operand.read.stride)
        boxes = [operand_box(column, number) for column in case.verdict.columns]
        label = f"<b>{operand.name}</b> {operand.stored.shape}"
        lines.append(Line(label=label, boxes=boxes, beside=beside if case.result else ""))
    ends = [end_box(column) for column in case.verdict.columns]
    made = (
        _("{size}, new").format(size=look.format_bytes(case.result.num_bytes))
        if (case.result)
        else _("no result")
    )
    return [*lines, Line(label=f"<b>{_('result')}</b>", boxes=ends, beside=made)]


def _sentence(case: Broadcast) -> str:
    shapes = _(", ").join(f"{each.name} {each.stored.shape}" for each in case.operands)
    if not case.result:
        wrong = [column.dim for column in case.verdict.columns if column.length is None]
        message = _("{shapes}, aligned from the right, do not go together: dimension {dims}.")
        return message.format(shapes=shapes, dims=_(" and ").join(map(str, wrong)))
    parts = [
        _("{name} has the strides {stride}").format(name=each.name, stride=each.read.stride)
        for each in case.operands
    ]
    message = _("{shapes}, aligned from the right, give {result}: {parts}.")
    return message.format(shapes=shapes, result=case.result.shape, parts=_(", ").join(parts))


def _table(case: Broadcast) -> Table:
    columns = {
        _("dimension {dim}").format(dim=column.dim): [
            *(operand_box(column, number).text for number in range(len(case.operands))),
            end_box(column).text,
        ]
        for column in case.verdict.columns
    }
    names = [*(each.name for each in case.operands), _("result")]
    strides = [str(each.read.stride) for each in case.operands]
    own = str(case.result.stride) if case.result else ""
    return {_("tensor"): names, **columns, _("strides when read"): [*strides, own]}
