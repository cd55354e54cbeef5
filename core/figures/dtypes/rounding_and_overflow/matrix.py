"""Rows by columns: in each cell words, or a mark whose shape says as much as its colour."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from core.figures.picture import Drawing, Look

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

MARK_ROW_PX: Final = 14
SLANTED_PX: Final = 5  # a slanted name needs about this much height for each letter
_MARGIN: Final = {"l": 8, "r": 8, "t": 8, "b": 8}


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """How one kind of mark looks.

    Attributes:
        words: Translated, for the legend.
        symbol: A marker of plotly; a single sign such as "?" is written instead.
        meaning: A name of `theme.COLORS`.
    """

    words: str
    symbol: str
    meaning: str

    @property
    def is_sign(self) -> bool:
        """Whether the symbol is written as it is."""
        return len(self.symbol) == 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """What stands in one cell.

    Attributes:
        kind: A key of the kinds.
        hover: Translated text shown on hover.
    """

    kind: str
    hover: str


Marks = Mapping[tuple[str, str], Mark]


def mark_matrix(
    marks: Marks,
    kinds: Mapping[str, Kind],
    look: Look,
    *,
    lit: str | None = None,
    slanted: bool = False,
    order: Sequence[str] = (),
) -> "Figure":
    """Return a figure of the marks, rows and columns in the order in which they come.

    Args:
        marks: (row, column) -> what stands there; the names are shown as they are.
        kinds: The kinds of marks, in the order of the legend.
        look: How the reader wants to see.
        lit: A column to lay a band under.
        slanted: Write the names of the columns slantwise, for many of them.
        order: Of the columns, where the first row does not have them all.
    """
    layout, drawing = look.layout(), Drawing()
    size = int(layout["font"]["size"])
    rows, columns = [list(dict.fromkeys(pair[part] for pair in marks)) for part in (0, 1)]
    for name, kind in kinds.items():
        cells = [(pair, mark) for pair, mark in marks.items() if mark.kind == name]
        _draw_marks(drawing, cells, kind, look, size)
    if lit in columns:
        place, color = columns.index(lit), look.color("surface")
        drawing.shape(
            type="rect", x0=place - 0.5, x1=place + 0.5, y0=0, y1=1, xref="x", yref="y domain",
            fillcolor=color, layer="below", line={"width": 0},
        )  # fmt: skip
    slant = SLANTED_PX * max(map(len, columns), default=0) * size // 15 if slanted else 0
    named = {"type": "category", "categoryorder": "array", "tickmode": "array", "fixedrange": True}
    across = {
        **named,
        "categoryarray": list(order or columns),
        "tickvals": columns,
        "tickangle": -35 if slanted else 0,
        "side": "top",
        "showgrid": False,
        "range": [-0.5, len(columns) - 0.5],
    }
    down = {**named, "categoryarray": rows, "tickvals": rows, "range": [len(rows) - 0.5, -0.5]}
    frame = {
        "height": len(rows) * (MARK_ROW_PX + size // 2) + 4 * size + slant,
        "margin": _MARGIN,
        "legend": layout["legend"] | {"y": -0.02, "yanchor": "top"},
        "xaxis": layout["xaxis"] | across,
        "yaxis": layout["yaxis"] | down,
    }
    return drawing.figure(layout | frame)


def _draw_marks(
    drawing: Drawing,
    cells: Sequence[tuple[tuple[str, str], Mark]],
    kind: Kind,
    look: Look,
    size: int,
) -> None:
    color = look.color(kind.meaning)
    drawing.scatter(
        x=[column for (_row, column), _mark in cells],
        y=[row for (row, _column), _mark in cells],
        mode="text" if kind.is_sign else "markers",
        text=[kind.symbol] * len(cells),
        textfont={"color": color, "size": size + 2},
        marker={
            "symbol": "circle" if kind.is_sign else kind.symbol,
            "color": color,
            "size": size,
            "line": {"color": color, "width": 2},
        },
        name=kind.words,
        hovertext=[mark.hover for _pair, mark in cells],
        hoverinfo="text",
        legendgroup=kind.words,
        showlegend=bool(cells) and not kind.is_sign,
    )
    if cells and kind.is_sign:  # an entry that names it: plotly's own shows "Aa" for all words
        drawing.scatter(
            x=[None],
            y=[None],
            mode="markers",
            marker={"color": "rgba(0,0,0,0)"},
            name=f'<b style="color:{color}">{kind.symbol}</b> {kind.words}',
            legendgroup=kind.words,
            hoverinfo="skip",
        )


def word_axes(
    columns: Sequence[str], rows: Sequence[str], look: Look, *, row_px: int
) -> dict[str, Any]:
    """Return the frame of a picture that has words in cells.

    Args:
        columns: Translated names, from left to right; they stand above.
        rows: Translated names, from top to bottom.
        look: How the reader wants to see.
        row_px: Height of a row, before the size of the text.
    """
    layout = look.layout()
    size = int(layout["font"]["size"])
    plain = {"showgrid": False, "zeroline": False, "fixedrange": True}
    across = {"side": "top", "range": [-0.5, len(columns) - 0.5], **_named(columns)}
    down = {"range": [len(rows) - 0.5, -0.5], **_named(rows)}
    return {
        "height": len(rows) * (row_px + size // 2) + 3 * size,
        "showlegend": False,
        "margin": _MARGIN,
        "xaxis": layout["xaxis"] | plain | across,
        "yaxis": layout["yaxis"] | plain | down,
    }


def _named(names: Sequence[str]) -> dict[str, Any]:
    return {"tickvals": list(range(len(names))), "ticktext": list(names)}


def frame_cell(
    drawing: Drawing, cell: tuple[int, int], half: float, line: Mapping[str, Any], look: Look
) -> None:
    """Draw a frame behind the words of a cell.

    Args:
        drawing: Gets the frame.
        cell: Column and row.
        half: Half its height, in rows.
        line: Its colour and width in px.
        look: How the reader wants to see.
    """
    x, y = cell
    drawing.shape(
        type="rect", x0=x - 0.47, x1=x + 0.47, y0=y - half, y1=y + half, layer="below",
        fillcolor=look.color("surface"), line=line,
    )  # fmt: skip
