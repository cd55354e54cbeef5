"""Shapes aligned from the right, the values that are read again, and torch's own words.

A grid holds the last two dimensions: what is stored, and what is read again with stride 0.
"""

from collections.abc import Sequence
from typing import Any, Final

from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.language.listing import listed
from core.tensors.broadcasting import Broadcast, explain_broadcast
from core.tensors.layout import Layout
from core.tensors.torch_answers import broadcast_refusal, broadcast_values
from core.units import format_count, format_exact
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.shared.tensors.program import show_torch
from pages.shared.tensors.table_cells import size_text
from pages.tensors.broadcasting.boxes import (
    Line,
    box_axes,
    boxes_height,
    draw_boxes,
    draw_layers,
    end_box,
    operand_box,
)
from pages.tensors.broadcasting.inputs import ASK, Case, note_column

_CODE: Final = """
import torch

shapes = [{shapes}]
tensors = [torch.empty(shape, dtype=torch.{dtype}, device="meta") for shape in shapes]
try:
    stretched = torch.broadcast_tensors(*tensors)
    print("result", tuple(stretched[0].shape))
    spared = 0
    for x, wide in zip(tensors, stretched):
        print("strides", wide.stride(), "storage", wide.untyped_storage().nbytes(), "bytes")
        spared += wide.nbytes if wide.numel() != x.numel() else 0
    print("stretched and written out:", spared, "bytes")
except RuntimeError as error:
    print(error)
"""

HEIGHT_PX: Final = {False: 430, True: 420}  # on a projector True
MOST: Final = 16  # rows and columns of a grid that are drawn
_LEAST: Final = 4  # of the text's size, that the grids need
_GAP: Final = 2.5  # cells between two grids
_STORED, _AGAIN, _RESULT = range(3)
_SHARES: Final = (("accent", 0.45), ("accent", 0.14), ("works", 0.55))
_MOST_VALUES: Final = 16  # columns of all grids together whose values have room


def shapes(chosen: Case) -> Shown:
    case = chosen.case
    picture = alignment_picture(case, chosen.dim, look())
    return Shown(
        headline=_headline(case),
        charts=[Chart(picture=picture, file_name="broadcasting", on_click=note_column)],
        below=None if case.result else lambda: show_torch(broadcast_refusal(case.shapes)),
        code=_CODE.format(shapes=", ".join(map(str, case.shapes)), dtype=chosen.dtype),
    )


def _headline(case: Broadcast) -> str:
    written = " + ".join(map(str, case.shapes))
    if case.result is None:
        column = next(each for each in case.verdict.columns if each.length is None)
        lengths = dict.fromkeys(each for each in column.lengths if each not in {None, 1})
        message = _("{shapes} cannot be broadcast: dimension {dim} is {lengths}, and none is 1")
        return message.format(shapes=written, dim=column.dim, lengths=listed(lengths))
    if not any(any(column.stretched) for column in case.verdict.columns):
        message = _("{shapes} → {result}: equal lengths, nothing stretches")
        return message.format(shapes=written, result=case.result.shape)
    message = _("{shapes} → {result} with stride 0: {copied} copied instead of {whole}")
    return message.format(
        shapes=written,
        result=case.result.shape,
        copied=size_text(0),
        whole=size_text(case.stretched_bytes),
    )


def alignment_picture(case: Broadcast, chosen: int, look: Look) -> Picture:
    """Return the shapes below one another, the result's at the end, and below them the grids."""
    drawing = Drawing()
    columns = [str(column.dim).replace("-", "−") for column in case.verdict.columns]
    lines = _lines(case, look)
    draw_boxes(drawing, columns, lines, look, chosen)
    layout = look.layout() | box_axes(columns, lines, look)
    size, boxes = layout["font"]["size"], boxes_height(len(lines), look)
    top, bottom, gap = 2 * size, round(3.2 * size), 2 * size
    inner = HEIGHT_PX[look.present] - top - bottom
    if case.result and case.result.numel and inner - boxes - gap > _LEAST * size:
        _draw_grids(drawing, case, case.result, look)
        layout["yaxis"]["domain"] = [1 - boxes / inner, 1]
        layout |= _grid_axes(case, case.result, 1 - (boxes + gap) / inner)
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
        if case.result
        else _("no result")
    )
    return [*lines, Line(label=f"<b>{_('result')}</b>", boxes=ends, beside=made)]


def _draw_grids(drawing: Drawing, case: Broadcast, result: Layout, look: Look) -> None:
    """Draw the operands and the result side by side on the axes x2 and y2."""
    size = look.layout()["font"]["size"]
    rows, columns = _drawn(result)
    words = _("<b>{name}</b>: {stored} stored<br>{read} read")
    titles = [
        words.format(
            name=each.name,
            stored=format_count(each.stored.numel),
            read=format_count(each.read.numel),
        )
        for each in case.operands
    ]
    made = _("<b>result</b>:<br>{count} written")
    titles.append(made.format(count=format_count(result.numel)))
    layouts = [*(each.read for each in case.operands), result]
    values = _values(case, result)
    for number, (layout, title) in enumerate(zip(layouts, titles, strict=True)):
        left = number * (columns + _GAP)
        is_result = number == len(case.operands)
        _draw_grid(drawing, layout, left, look, is_result=is_result)
        drawing.note(
            x=left + (columns - 1) / 2, y=rows - 0.5, xref="x2", yref="y2", text=title,
            yanchor="top", font={"size": size - (0 if look.present else 1)},
        )  # fmt: skip
        if values:
            places = [(i, j) for i in range(rows) for j in range(columns)]
            drawing.scatter(
                x=[left + j for _i, j in places], y=[i for i, _j in places], xaxis="x2", yaxis="y2",
                mode="text", text=[values[number][i][j] for i, j in places], hoverinfo="skip",
                textfont={"size": size - (0 if look.present else 1), "color": look.color("text")},
            )  # fmt: skip


def _values(case: Broadcast, result: Layout) -> list[Sequence[Sequence[str]]]:
    """Return what the cells hold, operand by operand and in the result; [] where there is no room.

    Of more than two dimensions, the first matrix.
    """
    rows, columns = (1, 1, *result.shape)[-2:]
    is_wide = columns * (len(case.operands) + 1) > _MOST_VALUES or rows > _MOST_VALUES // 2
    if is_wide or result.numel > MOST**4:
        return []
    matrices = [x.reshape(-1, rows, columns)[0].tolist() for x in broadcast_values(case)]
    return [[[f"{each:g}" for each in row] for row in matrix] for matrix in matrices]


def _draw_grid(
    drawing: Drawing, layout: Layout, left: float, look: Look, *, is_result: bool
) -> None:
    rows, columns = _drawn(layout)
    steps = (0, 0, *layout.stride)[-2:]
    wholes = (1, 1, *layout.shape)[-2:]
    again = [step == 0 and whole > 1 for step, whole in zip(steps, wholes, strict=True)]
    levels = [
        [
            _RESULT if is_result else _AGAIN if (again[0] and i) or (again[1] and j) else _STORED
            for j in range(columns)
        ]
        for i in range(rows)
    ]
    draw_layers(drawing, levels, _SHARES, look, left=left, axes=("x2", "y2"))


def _drawn(layout: Layout) -> tuple[int, int]:
    rows, columns = (1, 1, *layout.shape)[-2:]
    return min(rows, MOST), min(columns, MOST)


def _grid_axes(case: Broadcast, result: Layout, top: float) -> dict[str, Any]:
    """Return unseen axes for the grids below `top`, a share of the picture's height."""
    rows, columns = _drawn(result)
    num_grids = len(case.operands) + 1
    unseen = {"visible": False, "fixedrange": True}
    right = num_grids * (columns + _GAP) - _GAP
    return {
        "xaxis2": unseen | {"range": [-1, right], "anchor": "y2", "domain": [0, 1]},
        "yaxis2": unseen
        | {
            "range": [rows - 0.4, -0.6],
            "anchor": "x2",
            "domain": [0, top],
            "scaleanchor": "x2",
            "constrain": "domain",
        },
    }


def _sentence(case: Broadcast) -> str:
    shapes = _(", ").join(f"{each.name} {each.stored.shape}" for each in case.operands)
    if not case.result:
        wrong = [column.dim for column in case.verdict.columns if column.length is None]
        message = _(
            "{shapes}, aligned from the right, cannot be broadcast: dimension {dims} differs."
        )
        return message.format(shapes=shapes, dims=listed(wrong))
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
    made = case.result.num_bytes if case.result else None
    return {
        _("tensor"): names,
        **columns,
        _("strides when read"): [*strides, own],
        _("stored bytes"): [*(each.stored.num_bytes for each in case.operands), made],
        _("bytes written out"): [*(each.read.num_bytes for each in case.operands), made],
    }


_PREDICTED, _TARGET = (32, 1), (32,)


def ask_about_loss() -> None:
    """Ask for the shape of (32, 1) - (32,); the answer is computed."""
    verdict = explain_broadcast(_PREDICTED, _TARGET)
    rows, columns = verdict.shape
    choices = [
        Choice(
            str(_PREDICTED),
            _("So it would be if the 32 of the target met the 32 of the prediction. But shapes are "
              "aligned from the right: it meets the 1."),
        ),
        Choice(
            str(_TARGET),
            _("No dimension is ever dropped: the result has as many as the longer shape."),
        ),
        Choice(str(verdict.shape)),
        Choice(
            _("An error"),
            _("An error would be welcome here. A 1 matches every length, so torch says nothing."),
        ),
    ]  # fmt: skip
    predict_then_reveal(
        ASK.key("loss"),
        _(
            "A model predicts a tensor of shape {predicted}, the target has the shape {target}. "
            "Which shape has predicted - target?"
        ).format(predicted=_PREDICTED, target=_TARGET),
        choices,
        _(
            "The target counts as (1, {columns}); both stretch to {shape}. The loss is the mean of "
            "{count} differences, most of them between an answer and somebody else's target, and "
            "training goes on without a word."
        ).format(columns=columns, shape=verdict.shape, count=format_exact(rows * columns)),
    )


TAB: Final = Tab(label=N_("Shapes"), show=shapes, question=ask_about_loss)
