"""What fits where: one square a job and device, with the letter of what is the first to fail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import plotly.graph_objects as go

from core.budget.fits import Cell
from core.budget.plane import Plane
from core.figures.drawing import Drawing
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import N_, _, ngettext
from core.units import ByteUnit, format_bytes

LETTERS: Final[Mapping[str, str]] = {
    "weights": N_("W"),
    "KV cache": N_("K"),
    "work space": N_("S"),
    "gradients": N_("G"),
    "optimizer": N_("O"),
    "activations": N_("A"),
    "logits and loss": N_("L"),
    "temporary": N_("T"),
    "data": N_("D"),
    "communication buffers": N_("B"),
    "allocator reserve": N_("R"),
}
"""Name of an item -> the letter that stands for it in a square."""
_STATES: Final = {"too_big": 0, "close": 1, "fits": 2}
_ROW_HEIGHT: Final = 1.75  # of the text's size


@dataclass(frozen=True, kw_only=True, slots=True)
class Labels:
    """What the reader sees of a plane: a translated label for each key, and what is picked out."""

    rows: Mapping[str, str]
    columns: Mapping[str, str]
    chosen: tuple[str, str] | None = None


def letter(reason: str) -> str:
    """Return the letter of an item; an item without one of its own has its first."""
    return _(LETTERS[reason]) if reason in LETTERS else reason[:1].upper()


def square_text(cell: Cell, fewest: int) -> str:
    """Return what stands in a square: a tick, or why not and how many devices would do."""
    if not cell.reason and not cell.sentence:
        return "✓" if cell.verdict == "fits" else "≈"
    if cell.sentence:
        return "–"
    return f"{letter(cell.reason)} {_count(fewest)}×" if fewest else letter(cell.reason)


def _count(number: int) -> str:
    return f"{number // 1024}k" if number >= 1024 else str(number)


def fits_map(
    plane: Plane, labels: Labels, unit: ByteUnit, mode: Mode, *, present: bool = False
) -> go.Figure:
    """Return the plane as coloured squares; a click on one carries its row and column."""
    layout = plotly_layout(mode, present=present)
    drawing = Drawing()
    drawing.traces.append(_squares(plane, COLORS[mode]))
    drawing.scatter(**_words(plane, labels, unit, mode))
    if labels.chosen:
        _mark(drawing, plane, labels.chosen, COLORS[mode]["text"])
    size = layout["font"]["size"]
    axis = {"showgrid": False, "zeroline": False, "fixedrange": True}
    names = [labels.columns[key] for key in plane.columns]
    places = {
        "xaxis": layout["xaxis"]
        | axis
        | {"side": "top", "tickvals": list(range(len(names))), "ticktext": names}
        | {"tickangle": -40, "range": [-0.5, len(names) - 0.5]},
        "yaxis": layout["yaxis"]
        | axis
        | {
            "tickvals": list(range(len(plane.rows))),
            "ticktext": [labels.rows[key] for key in plane.rows],
            "range": [len(plane.rows) - 0.5, -0.5],
        },
        "height": round(len(plane.rows) * size * _ROW_HEIGHT) + 8 * size,
        "margin": {"l": 8, "r": 5 * size, "t": 7 * size, "b": 4},
    }
    return drawing.figure(
        layout | places | {"template": "none", "showlegend": False, "clickmode": "event+select"}
    )


def _squares(plane: Plane, color: Mapping[str, str]) -> dict[str, Any]:
    shades = (color["surface"], color["estimated"], color["works"])
    stops = [[place / 3, shade] for number, shade in enumerate(shades) for place in _ends(number)]
    return {
        "type": "heatmap",
        "z": [
            [_STATES[plane.cells[row, column].verdict] for column in plane.columns]
            for row in plane.rows
        ],
        "zmin": -0.5,
        "zmax": 2.5,
        "colorscale": stops,
        "showscale": False,
        "hoverinfo": "skip",
        "xgap": 2,
        "ygap": 2,
        "opacity": 0.55,
    }


def _ends(number: int) -> tuple[int, int]:
    return number, number + 1


def _words(plane: Plane, labels: Labels, unit: ByteUnit, mode: Mode) -> dict[str, Any]:
    where = [(row, column) for row in plane.rows for column in plane.columns]
    return {
        "x": [place for _row in plane.rows for place in range(len(plane.columns))],
        "y": [place for place in range(len(plane.rows)) for _column in plane.columns],
        "mode": "markers+text",
        "marker": {"size": 24, "opacity": 0},
        "text": [square_text(plane.cells[pair], plane.fewest[pair]) for pair in where],
        "textfont": {"color": COLORS[mode]["text"]},
        "customdata": [[*pair, hover_text(plane, labels, pair, unit)] for pair in where],
        "hovertemplate": "%{customdata[2]}<extra></extra>",
        "selected": {"textfont": {"color": COLORS[mode]["text"]}},
        "unselected": {"textfont": {"color": COLORS[mode]["text"]}, "marker": {"opacity": 0}},
    }


def _mark(drawing: Drawing, plane: Plane, chosen: tuple[str, str], color: str) -> None:
    if chosen[0] not in plane.rows or chosen[1] not in plane.columns:
        return
    x, y = plane.columns.index(chosen[1]), plane.rows.index(chosen[0])
    line = {"color": color, "width": 3}
    drawing.shape(type="rect", x0=x - 0.5, x1=x + 0.5, y0=y - 0.5, y1=y + 0.5, line=line)


def hover_text(plane: Plane, labels: Labels, pair: tuple[str, str], unit: ByteUnit) -> str:
    """Return what a square says when the pointer stands on it."""
    cell, fewest = plane.cells[pair], plane.fewest[pair]
    head = f"<b>{labels.rows[pair[0]]}</b> · {labels.columns[pair[1]]}"
    if cell.need is None:
        return f"{head}<br>{cell.sentence}"
    sizes = _("{need} of {capacity}").format(
        need=format_bytes(cell.need.amount, unit), capacity=format_bytes(cell.capacity, unit)
    )
    return "<br>".join([head, sizes, *_reason_lines(cell, fewest)])


def _reason_lines(cell: Cell, fewest: int) -> Sequence[str]:
    if not cell.reason:
        return () if cell.verdict == "fits" else (_("fits, but not at the upper end of its band"),)
    first = _("the first that does not fit: {item}").format(item=_(cell.reason))
    if not fewest:
        return first, _("no number of devices is enough")
    enough = ngettext("{count} device is enough", "{count} devices are enough", fewest)
    return first, enough.format(count=fewest)


def fits_alt(plane: Plane, labels: Labels) -> str:
    """Return the picture in words."""
    fitting = [pair for pair, cell in plane.cells.items() if not cell.reason and not cell.sentence]
    per_column = [
        f"{labels.columns[key]} {sum(pair[1] == key for pair in fitting)}" for key in plane.columns
    ]
    return _("Of {total} squares {count} fit. By column: {columns}.").format(
        total=len(plane.cells), count=len(fitting), columns=_(", ").join(per_column)
    )


def fits_table(plane: Plane, labels: Labels) -> Mapping[str, Sequence[object]]:
    """Return the squares row by row."""
    first = {" ": [labels.rows[key] for key in plane.rows]}
    squares = {
        labels.columns[column]: [
            square_text(plane.cells[row, column], plane.fewest[row, column]) for row in plane.rows
        ]
        for column in plane.columns
    }
    return {**first, **squares}


def letters_sentence(plane: Plane) -> str:
    """Return what the letters of this picture mean."""
    seen = dict.fromkeys(cell.reason for cell in plane.cells.values() if cell.reason)
    parts = [f"**{letter(name)}** {_(name)}" for name in seen]
    return _(
        "✓ fits · ≈ within its band · first that fails: {letters} · ×: so many devices are enough"
    ).format(letters=_(", ").join(parts))
