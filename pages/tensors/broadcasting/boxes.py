"""What the pictures of this page are made of: boxes of shapes, and cells in colours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from core.figures.picture import Drawing, Look
from core.language import _
from core.language.listing import listed
from core.tensors.broadcasting import Column

State = Literal["kept", "stretched", "absent", "refused", "summed", "result"]
_FEWEST_COLUMNS: Final = 2  # so that few boxes are no longer than many
_BESIDE: Final = 2.6  # columns of room for the words at the right
_ROW: Final = 2.5  # of the text's size
_COLORS: Final[Mapping[State, tuple[str, float, str]]] = {  # colour, its share, line
    "kept": ("surface", 1.0, "solid"),
    "stretched": ("accent", 0.25, "dash"),
    "absent": ("accent", 0.12, "dot"),
    "refused": ("refused", 0.3, "solid"),
    "summed": ("round_bit", 0.2, "solid"),
    "result": ("works", 0.2, "solid"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Box:
    """One dimension of one shape: what stands in it, what it means, what the pointer is told."""

    text: str
    state: State
    said: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One shape: its name, a box or nothing in each column, and words at the right."""

    label: str
    boxes: Sequence[Box | None]
    beside: str


def operand_box(column: Column, number: int) -> Box:
    length, becomes = column.lengths[number], column.length
    words: dict[str, object] = {"dim": column.dim, "length": length, "count": becomes}
    if becomes is None:
        state: State = "absent" if length is None else "kept" if length == 1 else "refused"
        text = "·" if length is None else f"{length} ✗" if state == "refused" else str(length)
        return Box(text=text, state=state, said=_refusal(column))
    if length is None:
        said = _("dimension {dim} is missing: it counts as 1, read {count} times with stride 0")
        return Box(text=f"→ {becomes}", state="absent", said=said.format(**words))
    if column.stretched[number]:
        said = _("dimension {dim} of length 1 is read {count} times with stride 0")
        return Box(text=f"1 → {becomes}", state="stretched", said=said.format(**words))
    said = _("dimension {dim}: length {length}, as in the result")
    return Box(text=str(length), state="kept", said=said.format(**words))


def end_box(column: Column) -> Box:
    if column.length is None:
        return Box(text="✗", state="refused", said=_refusal(column))
    said = _("dimension {dim} of the result: {length}")
    text = str(column.length)
    return Box(text=text, state="result", said=said.format(dim=column.dim, length=text))


def _refusal(column: Column) -> str:
    lengths = dict.fromkeys(each for each in column.lengths if each not in {None, 1})
    said = _("dimension {dim}: {lengths} differ, and none of them is 1")
    return said.format(dim=column.dim, lengths=listed(lengths))


def draw_boxes(
    drawing: Drawing, columns: Sequence[str], lines: Sequence[Line], look: Look, chosen: int | None
) -> None:
    """Draw the shapes; the last column stands at x = -1, the first line at y = 0.

    A click on a box carries its column, counted from the right, as that with a frame: -1, -2, ...
    """
    places = [
        (x, y, box)
        for y, line in enumerate(lines)
        for x, box in zip(range(-len(columns), 0), line.boxes, strict=True)
        if box is not None
    ]
    for x, y, box in places:
        _draw_box(drawing, x, y, box.state, look)
    _draw_texts(drawing, places, look)
    for y, line in enumerate(lines):
        drawing.note(x=-0.45, y=y, text=line.beside, xanchor="left", align="left")
    if chosen is not None and -chosen <= len(columns):
        drawing.shape(
            type="rect", x0=chosen - 0.5, x1=chosen + 0.5, y0=-0.52, y1=len(lines) - 0.48,
            line={"color": look.color("text"), "width": 2},
        )  # fmt: skip


def _draw_texts(drawing: Drawing, places: Sequence[tuple[int, int, Box]], look: Look) -> None:
    size, color = look.layout()["font"]["size"], look.color("text")
    drawing.scatter(
        x=[x for x, _y, _box in places],
        y=[y for _x, y, _box in places],
        mode="markers+text",
        marker={"size": 2 * size, "opacity": 0},
        text=[f"<b>{box.text}</b>" for _x, _y, box in places],
        textfont={"size": size + 2, "color": color},
        customdata=[[x, box.said] for x, _y, box in places],
        hovertemplate="%{customdata[1]}<extra></extra>",
        selected={"textfont": {"color": color}},
        unselected={"textfont": {"color": color}, "marker": {"opacity": 0}},
        showlegend=False,
    )


def _draw_box(drawing: Drawing, x: int, y: int, state: State, look: Look) -> None:
    meaning, share, dash = _COLORS[state]
    color = look.color(meaning)
    line = {"color": look.color("muted") if state == "kept" else color, "width": 2, "dash": dash}
    box = {"type": "rect", "x0": x - 0.44, "x1": x + 0.44, "y0": y - 0.4, "y1": y + 0.4}
    drawing.shape(**box, fillcolor=color, opacity=share, line={"width": 0}, layer="below")
    drawing.shape(**box, line=line, layer="below")


def box_axes(columns: Sequence[str], lines: Sequence[Line], look: Look) -> dict[str, Any]:
    base, count = look.layout(), len(columns)
    still = {"showgrid": False, "zeroline": False, "fixedrange": True, "showline": False}
    left = -max(count, _FEWEST_COLUMNS) - 0.5
    return {
        "xaxis": base["xaxis"]
        | still
        | {
            "side": "top",
            "tickvals": list(range(-count, 0)),
            "ticktext": list(columns),
            "tickangle": 0,
            "range": [left, -0.5 + (_BESIDE if any(line.beside for line in lines) else 0)],
        },
        "yaxis": base["yaxis"]
        | still
        | {
            "tickvals": list(range(len(lines))),
            "ticktext": [line.label for line in lines],
            "range": [len(lines) - 0.46, -0.54],
        },
    }


def boxes_height(num_lines: int, look: Look) -> int:
    """Return the pixels that lines of boxes need, without the titles above."""
    size: int = look.layout()["font"]["size"]
    return round(num_lines * _ROW * size)


def draw_layers(
    drawing: Drawing,
    levels: Sequence[Sequence[int]],
    shares: Sequence[tuple[str, float]],
    look: Look,
    *,
    left: float = 0,
    axes: tuple[str, str] = ("x", "y"),
) -> None:
    """Draw rows of cells from y = 0; a level is a place in `shares`, colour and opacity."""
    for level, (meaning, share) in enumerate(shares):
        color = look.color(meaning)
        drawing.trace(
            "heatmap",
            x=[left + j for j in range(max(map(len, levels), default=0))],
            y=list(range(len(levels))),
            z=[[1 if each == level else None for each in row] for row in levels],
            colorscale=[[0, color], [1, color]],
            opacity=share,
            showscale=False,
            hoverinfo="skip",
            xgap=2,
            ygap=2,
            xaxis=axes[0],
            yaxis=axes[1],
        )
