"""The last two dimensions of each operand as a grid: what is stored, and what is read again."""

from typing import Any, Final

from core.figures.picture import Drawing, Look
from core.language import _
from core.tensors.layout import Layout
from core.tensors.operands import Broadcast
from core.units import format_count

MOST: Final = 16  # rows and columns of a grid that are drawn
_GAP: Final = 2.5  # cells between two grids
_STORED, _AGAIN, _RESULT = range(3)
_SHARES: Final = (("accent", 0.85), ("accent", 0.2), ("works", 0.55))


def can_draw_grids(case: Broadcast) -> bool:
    """Whether there is anything to draw: shapes that go together, and elements."""
    return case.result is not None and case.result.numel > 0


def draw_grids(drawing: Drawing, case: Broadcast, look: Look) -> None:
    """Draw the operands and the result side by side on the axes x2 and y2.

    Raises:
        ValueError: If the shapes do not go together.
    """
    if case.result is None:
        raise ValueError("without a result there is nothing to draw; ask can_draw_grids first")
    size = look.layout()["font"]["size"]
    rows, columns = _drawn(case.result)
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
    titles.append(made.format(count=format_count(case.result.numel)))
    layouts = [*(each.read for each in case.operands), case.result]
    for number, (layout, title) in enumerate(zip(layouts, titles, strict=True)):
        left = number * (columns + _GAP)
        is_result = number == len(case.operands)
        _draw_grid(drawing, layout, left, look, is_result=is_result)
        drawing.note(
            x=left + (columns - 1) / 2, y=rows - 0.5, xref="x2", yref="y2", text=title,
            yanchor="top", font={"size": size - (1 if not look.present else 0)},
        )  # fmt: skip


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
    for level, (meaning, share) in enumerate(_SHARES):
        color = look.color(meaning)
        drawing.trace(
            "heatmap",
            x=[left + j for j in range(columns)],
            y=list(range(rows)),
            z=[[1 if each == level else None for each in row] for row in levels],
            colorscale=[[0, color], [1, color]],
            opacity=share,
            showscale=False,
            hoverinfo="skip",
            xgap=2,
            ygap=2,
            xaxis="x2",
            yaxis="y2",
        )


def _drawn(layout: Layout) -> tuple[int, int]:
    """Return the rows and columns that are drawn of a tensor."""
    rows, columns = (1, 1, *layout.shape)[-2:]
    return min(rows, MOST), min(columns, MOST)


def grid_axes(case: Broadcast, top: float) -> dict[str, Any]:
    """Return unseen axes for the grids below `top`, a share of the picture's height."""
    if case.result is None:
        return {}
    rows, columns = _drawn(case.result)
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
