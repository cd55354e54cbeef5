"""Tensors as rows, names of their dimensions as columns: what is shared, summed or wrong."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from core.figures.picture import Drawing, Look, Picture, Table
from core.figures.tensors.rearrange_and_einsum.axes import axis_color, mixed
from core.language import _

Mark = Literal["here", "summed", "wrong", "free"]
ROW_PX: Final = 62
PRESENT_ROW_PX: Final = 66
_SHARE: Final[dict[Mark, float]] = {"here": 0.4, "summed": 0.0, "wrong": 0.12, "free": 0.0}


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexCell:
    """One dimension of a tensor, or what became of it.

    Attributes:
        index: Its name, which is its column.
        length: Of the dimension.
        mark: "here", "summed" away in the result, "wrong" length, "free" of any name.
    """

    index: str
    length: int
    mark: Mark = "here"


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexRow:
    """One tensor: what stands at its left, and its dimensions."""

    label: str
    cells: tuple[IndexCell, ...]


def index_picture(
    rows: Sequence[IndexRow], names: Sequence[str], chosen: str, alt: str, look: Look
) -> Picture:
    """Return one row for each tensor, the same name in the same column and colour.

    Args:
        rows: From the top.
        names: Of the columns.
        chosen: The column with a frame; "" for none.
        alt: A translated sentence about this picture.
        look: How the reader wants to see.
    """
    drawing, layout = Drawing(), look.layout()
    for at, row in enumerate(rows):
        for cell in row.cells:
            _draw_cell(drawing, cell, (names.index(cell.index), at), names, look)
    if chosen in names:
        frame = {"color": look.color("text"), "width": 2.5, "dash": "dot"}
        x = names.index(chosen)
        drawing.shape(
            type="rect", x0=x - 0.49, x1=x + 0.49, y0=-0.5, y1=len(rows) - 0.5, line=frame
        )
    drawing.scatter(x=[None], y=[None], hoverinfo="skip")
    size = layout["font"]["size"]
    fixed = {"fixedrange": True, "showgrid": False, "zeroline": False, "showline": False}
    across = {
        "range": [-0.55, max(len(names), 4) - 0.45],
        "tickvals": list(range(len(names))),
        "ticktext": [
            f'<span style="color:{axis_color(name, names, look)}"><b>{name}</b></span>'
            for name in names
        ],
        "side": "top",
        "tickfont": layout["font"] | {"size": size + 5},
    }
    down = {
        "range": [len(rows) - 0.45, -0.55],
        "tickvals": list(range(len(rows))),
        "ticktext": [f"{row.label} " for row in rows],
    }
    axes = {
        "xaxis": layout["xaxis"] | fixed | across,
        "yaxis": layout["yaxis"] | fixed | down,
        "height": len(rows) * (PRESENT_ROW_PX if look.present else ROW_PX) + 3 * size,
        "margin": {"l": 8, "r": 8, "t": 2.4 * size, "b": 4},
        "showlegend": False,
    }
    return Picture(figure=drawing.figure(layout | axes), alt=alt, table=_table(rows, names))


def _draw_cell(
    drawing: Drawing, cell: IndexCell, place: tuple[int, int], names: Sequence[str], look: Look
) -> None:
    x, y = place
    color = axis_color(cell.index, names, look)
    line = {
        "here": {"color": color, "width": 2},
        "summed": {"color": color, "width": 2, "dash": "dot"},
        "wrong": {"color": look.color("refused"), "width": 4},
        "free": {"color": look.color("muted"), "width": 1.5},
    }[cell.mark]
    drawing.shape(
        type="rect", x0=x - 0.42, x1=x + 0.42, y0=y - 0.36, y1=y + 0.36, line=line,
        fillcolor=mixed(color, _SHARE[cell.mark], look), layer="below",
    )  # fmt: skip
    drawing.note(x=x, y=y, text=_words(cell), font={"size": look.layout()["font"]["size"] + 1})


def _words(cell: IndexCell) -> str:
    if cell.mark == "summed":
        return f"Σ {cell.index}"
    return f"✗ <b>{cell.length}</b>" if cell.mark == "wrong" else str(cell.length)


def _table(rows: Sequence[IndexRow], names: Sequence[str]) -> Table:
    return {
        _("tensor"): [row.label for row in rows],
        **{
            name: [
                ", ".join(_words(cell) for cell in row.cells if cell.index == name) or "–"
                for row in rows
            ]
            for name in names
        },
    }
