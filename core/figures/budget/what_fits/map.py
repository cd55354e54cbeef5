"""What fits where: one square a job and device, with the letter of what is the first to fail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from core.budget.fits.matrix import Cell
from core.budget.fits.plane import Plane
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _, ngettext

LETTERS: Final[Mapping[str, str]] = {
    "weights": N_("W"),
    "KV cache": N_("K"),
    "workspace": N_("S"),
    "gradients": N_("G"),
    "optimizer": N_("O"),
    "activations": N_("A"),
    "logits and loss": N_("L"),
    "temporary": N_("T"),
    "data": N_("D"),
    "communication buffers": N_("B"),
    "received keys and values": N_("V"),
    "allocator reserve": N_("R"),
}
"""Name of an item -> the letter that stands for it in a square."""
_STATES: Final = {"too_big": 0, "close": 1, "fits": 2}
_SHADES: Final = ("surface", "estimated", "works")
_ROW_HEIGHT: Final = 1.75  # of the text's size
_UPRIGHT: Final = 6  # columns whose names have room side by side
_ROOMY: Final = 8  # columns at which "W128×" still has room in the size of all other text
_SMALLEST: Final = 3  # px less for many more, so that "W128" has room on a screen of 1024 pixels
_CROWDED: Final = 24  # columns beside which a square has room for its letter alone
_TIMES: Final = "×"


@dataclass(frozen=True, kw_only=True, slots=True)
class Labels:
    """What the reader sees of a plane: a translated label for each key, and what is picked out."""

    rows: Mapping[str, str]
    columns: Mapping[str, str]
    chosen: tuple[str, str] | None = None


def map_picture(plane: Plane, labels: Labels, look: Look) -> Picture:
    """Return the plane as coloured squares; a click on one carries its row and column."""
    layout, drawing = look.layout(), Drawing()
    _draw_squares(drawing, plane, look)
    _draw_words(drawing, plane, labels, look, layout["font"]["size"])
    if labels.chosen and labels.chosen[0] in plane.rows and labels.chosen[1] in plane.columns:
        x, y = plane.columns.index(labels.chosen[1]), plane.rows.index(labels.chosen[0])
        line = {"color": look.color("text"), "width": 3}
        drawing.shape(type="rect", x0=x - 0.5, x1=x + 0.5, y0=y - 0.5, y1=y + 0.5, line=line)
    axes = _axes(plane, labels, layout) | {"showlegend": False, "clickmode": "event+select"}
    figure = drawing.figure(layout | axes)
    first = {" ": [labels.rows[key] for key in plane.rows]}
    squares = {
        labels.columns[column]: [
            square_text(plane.cells[row, column], plane.fewest[row, column]) for row in plane.rows
        ]
        for column in plane.columns
    }
    return Picture(figure=figure, alt=_sentence(plane, labels), table={**first, **squares})


def _axes(plane: Plane, labels: Labels, layout: Mapping[str, Any]) -> dict[str, Any]:
    """Return axes that start at the top left; many columns have their names at a slant."""
    size, num_rows = layout["font"]["size"], len(plane.rows)
    names = [labels.columns[key] for key in plane.columns]
    slanted, crowded = len(names) > _UPRIGHT, len(names) > _CROWDED
    top = 10 if crowded else 7 if slanted else 2
    still = {"showgrid": False, "zeroline": False, "fixedrange": True}
    across = {"side": "top", "tickvals": list(range(len(names))), "ticktext": names}
    down = {"tickvals": list(range(num_rows)), "ticktext": [labels.rows[key] for key in plane.rows]}
    return {
        "xaxis": layout["xaxis"]
        | still
        | across
        | {"range": [-0.5, len(names) - 0.5]}
        | _slant(len(names), size),
        "yaxis": layout["yaxis"] | still | down | {"range": [num_rows - 0.5, -0.5]},
        "height": round(num_rows * size * _ROW_HEIGHT) + (top + 1) * size,
        "margin": {
            "l": 8,
            "r": 5 * size if slanted and not crowded else 8,
            "t": top * size,
            "b": 4,
        },
    }


def _slant(num_columns: int, size: int) -> dict[str, Any]:
    """Return how the names of columns stand: side by side, at a slant, or upright where crowded."""
    if num_columns > _CROWDED:
        return {"tickangle": -90, "tickfont": {"size": size - _SMALLEST}}
    return {"tickangle": -40 if num_columns > _UPRIGHT else 0}


def _draw_squares(drawing: Drawing, plane: Plane, look: Look) -> None:
    stops = [
        [place / 3, look.color(shade)]
        for number, shade in enumerate(_SHADES)
        for place in (number, number + 1)
    ]
    drawing.trace(
        "heatmap",
        z=[
            [_STATES[plane.cells[row, column].verdict] for column in plane.columns]
            for row in plane.rows
        ],
        zmin=-0.5,
        zmax=2.5,
        colorscale=stops,
        showscale=False,
        hoverinfo="skip",
        xgap=2,
        ygap=2,
        opacity=0.55,
    )


def _draw_words(drawing: Drawing, plane: Plane, labels: Labels, look: Look, size: int) -> None:
    where = [(row, column) for row in plane.rows for column in plane.columns]
    color, beyond = look.color("text"), max(0, len(plane.columns) - _ROOMY)
    words = [square_text(plane.cells[pair], plane.fewest[pair]) for pair in where]
    drawing.scatter(
        x=[place for _row in plane.rows for place in range(len(plane.columns))],
        y=[place for place in range(len(plane.rows)) for _column in plane.columns],
        mode="markers+text",
        marker={"size": 24, "opacity": 0},
        text=[_short(each, len(plane.columns)) for each in words],
        textfont={"color": color, "size": size - min(beyond // 2, _SMALLEST)},
        customdata=[[*pair, hover_text(plane, labels, pair, look)] for pair in where],
        hovertemplate="%{customdata[2]}<extra></extra>",
        selected={"textfont": {"color": color}},
        unselected={"textfont": {"color": color}, "marker": {"opacity": 0}},
    )


def _short(words: str, num_columns: int) -> str:
    """Return what has room in a square beside so many: "W128×", "W128" or "W"."""
    if num_columns > _CROWDED:
        return words[:1]
    return words.removesuffix(_TIMES) if num_columns > _ROOMY else words


def square_text(cell: Cell, fewest: int) -> str:
    """Return what stands in a square: a tick, or why not and how many devices would do."""
    if cell.sentence:
        return "–"
    if not cell.reason:
        return "✓" if cell.verdict == "fits" else "≈"
    if not fewest:
        return letter(cell.reason)
    count = f"{fewest // 1024}k" if fewest >= 1024 else str(fewest)
    return f"{letter(cell.reason)}{count}{_TIMES}"


def letter(reason: str) -> str:
    """Return the letter of an item; an item without one of its own has its first."""
    return _(LETTERS[reason]) if reason in LETTERS else reason[:1].upper()


def letters_sentence(plane: Plane) -> str:
    """Return what the letters of this picture mean."""
    seen = dict.fromkeys(cell.reason for cell in plane.cells.values() if cell.reason)
    parts = [f"**{letter(name)}** {_(name)}" for name in seen]
    letters = _(", ").join(parts)
    if len(plane.columns) > _CROWDED:
        return _(
            "✓ fits · ≈ within its band · first that fails: {letters} · how many devices are "
            "enough: on hover and in the table"
        ).format(letters=letters)
    return _(
        "✓ fits · ≈ within its band · first that fails: {letters} · the number: so many devices "
        "are enough"
    ).format(letters=letters)


def hover_text(plane: Plane, labels: Labels, pair: tuple[str, str], look: Look) -> str:
    """Return what a square says when the pointer stands on it."""
    cell, fewest = plane.cells[pair], plane.fewest[pair]
    head = f"<b>{labels.rows[pair[0]]}</b> · {labels.columns[pair[1]]}"
    if cell.need is None:
        return f"{head}<br>{cell.sentence}"
    sizes = _("{need} of {capacity}").format(
        need=look.format_bytes(cell.need.amount), capacity=look.format_bytes(cell.capacity)
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


def _sentence(plane: Plane, labels: Labels) -> str:
    """Return how many squares fit, column by column."""
    fitting = [pair for pair, cell in plane.cells.items() if not cell.reason and not cell.sentence]
    per_column = [
        f"{labels.columns[key]} {sum(pair[1] == key for pair in fitting)}" for key in plane.columns
    ]
    return _("Of {total} squares {count} fit. By column: {columns}.").format(
        total=len(plane.cells), count=len(fitting), columns=_(", ").join(per_column)
    )
