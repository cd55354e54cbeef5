"""What fits where: one square a job and device, with the letter of what is the first to fail."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import plotly.graph_objects as go

from core.budget.fits.plane import Plane
from core.figures.budget.what_fits.fits_squares import Labels, hover_text, letter, square_text
from core.figures.drawing import Drawing
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import _
from core.units import ByteUnit

_STATES: Final = {"too_big": 0, "close": 1, "fits": 2}
_ROW_HEIGHT: Final = 1.75  # of the text's size
_UPRIGHT: Final = 6  # columns whose names have room side by side
_ROOMY: Final = 15  # columns at which "W128×" still has room in the size of all other text


def fits_map(
    plane: Plane, labels: Labels, unit: ByteUnit, mode: Mode, *, present: bool = False
) -> go.Figure:
    """Return the plane as coloured squares; a click on one carries its row and column."""
    layout = plotly_layout(mode, present=present)
    drawing = Drawing()
    drawing.traces.append(_squares(plane, COLORS[mode]))
    size = layout["font"]["size"]
    narrow = 2 if len(plane.columns) > _ROOMY else 0
    drawing.scatter(**_words(plane, labels, unit, mode, size - narrow))
    if labels.chosen:
        _mark(drawing, plane, labels.chosen, COLORS[mode]["text"])
    return drawing.figure(
        layout
        | _axes(plane, labels, layout)
        | {"template": "none", "showlegend": False, "clickmode": "event+select"}
    )


def _axes(plane: Plane, labels: Labels, layout: Mapping[str, Any]) -> dict[str, Any]:
    """Return axes that start at the top left; many columns have their names at a slant."""
    size = layout["font"]["size"]
    names = [labels.columns[key] for key in plane.columns]
    slanted = len(names) > _UPRIGHT
    axis = {"showgrid": False, "zeroline": False, "fixedrange": True}
    return {
        "xaxis": layout["xaxis"]
        | axis
        | {"side": "top", "tickvals": list(range(len(names))), "ticktext": names}
        | {"tickangle": -40 if slanted else 0, "range": [-0.5, len(names) - 0.5]},
        "yaxis": layout["yaxis"]
        | axis
        | {
            "tickvals": list(range(len(plane.rows))),
            "ticktext": [labels.rows[key] for key in plane.rows],
            "range": [len(plane.rows) - 0.5, -0.5],
        },
        "height": round(len(plane.rows) * size * _ROW_HEIGHT) + (8 if slanted else 3) * size,
        "margin": {
            "l": 8,
            "r": 5 * size if slanted else 8,
            "t": (7 if slanted else 2) * size,
            "b": 4,
        },
    }


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


def _words(plane: Plane, labels: Labels, unit: ByteUnit, mode: Mode, size: int) -> dict[str, Any]:
    where = [(row, column) for row in plane.rows for column in plane.columns]
    return {
        "x": [place for _row in plane.rows for place in range(len(plane.columns))],
        "y": [place for place in range(len(plane.rows)) for _column in plane.columns],
        "mode": "markers+text",
        "marker": {"size": 24, "opacity": 0},
        "text": [square_text(plane.cells[pair], plane.fewest[pair]) for pair in where],
        "textfont": {"color": COLORS[mode]["text"], "size": size},
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
