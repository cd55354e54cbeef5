"""Shapes that are broadcast: aligned from the right, and what the last two dimensions become."""

from collections.abc import Sequence
from typing import Final

from core.figures.picture import Drawing, Look, Picture, Table
from core.figures.tensors.broadcasting.boxes import (
    Box,
    Line,
    State,
    box_axes,
    boxes_height,
    draw_boxes,
)
from core.figures.tensors.broadcasting.grids import can_draw_grids, draw_grids, grid_axes
from core.language import _
from core.tensors.broadcasting import Column
from core.tensors.operands import Broadcast

HEIGHT_PX: Final = 430
PRESENT_HEIGHT_PX: Final = 420
_GAP_PX: Final = 28
_LEAST_PX: Final = 110  # of the grids


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
    size, inner = layout["font"]["size"], boxes_height(len(lines), look)
    whole = max(PRESENT_HEIGHT_PX if look.present else HEIGHT_PX, inner + _GAP_PX + _LEAST_PX)
    if can_draw_grids(case):
        bottom = 1 - inner / (whole - 2 * size)
        draw_grids(drawing, case, look)
        layout["yaxis"]["domain"] = [bottom, 1]
        layout |= grid_axes(case, max(bottom - _GAP_PX / whole, 0.1))
    else:
        whole = inner + 2 * size
    margin = {"l": 8, "r": 8, "t": 2 * size, "b": 4}
    fields = {"height": whole, "margin": margin, "showlegend": False, "clickmode": "event+select"}
    return Picture(figure=drawing.figure(layout | fields), alt=_sentence(case), table=_table(case))


def _lines(case: Broadcast, look: Look) -> list[Line]:
    lines = []
    for number, operand in enumerate(case.operands):
        beside = _("strides {stride}").format(stride=operand.read.stride)
        boxes = [_box(column, number) for column in case.verdict.columns]
        label = f"<b>{operand.name}</b> {operand.stored.shape}"
        lines.append(Line(label=label, boxes=boxes, beside=beside if case.result else ""))
    ends = [_end(column) for column in case.verdict.columns]
    made = (
        _("{size}, new").format(size=look.format_bytes(case.result.num_bytes))
        if (case.result)
        else _("no result")
    )
    return [*lines, Line(label=f"<b>{_('result')}</b>", boxes=ends, beside=made)]


def _box(column: Column, number: int) -> Box:
    length, becomes = column.lengths[number], column.length
    dim = {"dim": column.dim}
    if becomes is None:
        state: State = "absent" if length is None else "kept" if length == 1 else "refused"
        text = "·" if length is None else f"{length} ✗" if state == "refused" else str(length)
        others = sorted({each for each in column.lengths if each not in {None, 1}})
        said = _("dimension {dim}: {lengths} are different, and none of them is 1")
        return Box(text=text, state=state, said=said.format(**dim, lengths=_listed(others)))
    if length is None:
        said = _("dimension {dim} is missing: it counts as 1, read {count} times with stride 0")
        text = f"→ {becomes}" if becomes != 1 else "· 1"
        return Box(text=text, state="absent", said=said.format(**dim, count=becomes))
    if column.stretched[number]:
        said = _("dimension {dim} of length 1 is read {count} times with stride 0")
        return Box(text=f"1 → {becomes}", state="stretched", said=said.format(**dim, count=becomes))
    said = _("dimension {dim}: length {length}, as in the result")
    return Box(text=str(length), state="kept", said=said.format(**dim, length=length))


def _listed(lengths: Sequence[int | None]) -> str:
    return _(" and ").join(map(str, lengths))


def _end(column: Column) -> Box:
    if column.length is None:
        said = _("dimension {dim} of the result: no length is right")
        return Box(text="✗", state="refused", said=said.format(dim=column.dim))
    said = _("dimension {dim} of the result: {length}")
    text = str(column.length)
    return Box(text=text, state="result", said=said.format(dim=column.dim, length=text))


def _sentence(case: Broadcast) -> str:
    shapes = _(", ").join(f"{each.name} {each.stored.shape}" for each in case.operands)
    if not case.result:
        wrong = [column.dim for column in case.verdict.columns if column.length is None]
        message = _("{shapes}, aligned from the right, do not go together: dimension {dims}.")
        return message.format(shapes=shapes, dims=_listed(wrong))
    parts = [
        _("{name} has the strides {stride}").format(name=each.name, stride=each.read.stride)
        for each in case.operands
    ]
    message = _("{shapes}, aligned from the right, give {result}: {parts}.")
    return message.format(shapes=shapes, result=case.result.shape, parts=_(", ").join(parts))


def _table(case: Broadcast) -> Table:
    def words(column: Column, number: int) -> str:
        return _box(column, number).text

    operands = range(len(case.operands))
    first = [*(each.name for each in case.operands), _("result")]
    columns = {
        _("dimension {dim}").format(dim=column.dim): [
            *(words(column, number) for number in operands), _end(column).text
        ]
        for column in case.verdict.columns
    }  # fmt: skip
    strides = [str(each.read.stride) for each in case.operands]
    own = str(case.result.stride) if case.result else ""
    return {_("tensor"): first, **columns, _("strides when read"): [*strides, own]}
