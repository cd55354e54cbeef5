"""What fits where: one square a job and device, with the letter of what is the first to fail."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from unicodedata import east_asian_width

from core.budget.fits.matrix import Cell
from core.budget.fits.plane import Plane
from core.budget.item import hedged
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _, ngettext

LETTERS: Final[Mapping[str, str]] = {
    "weights": N_("W"),
    "KV cache": N_("K"),
    "recurrent state": N_("Z"),
    "workspace": N_("S"),
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
_OTHER: Final = "other"
COLORS: Final[Mapping[str, str]] = {
    "weights": "weights",
    "KV cache": "kv_cache",
    "recurrent state": "kv_cache",
    "workspace": "temporary",
    "gradients": "gradients",
    "optimizer": "optimizer",
    "activations": "activations",
    "logits and loss": "activations",
    "temporary": "temporary",
}
"""Name of an item -> the meaning of the colour of squares in which it is the first to fail."""
_SHADES: Final = ("background", "surface", *dict.fromkeys((*COLORS.values(), _OTHER)))
_STRENGTH: Final = 0.55  # of a square's colour: text on it is to be read
_ROW_HEIGHT: Final = 1.75  # of the text's size
_UPRIGHT: Final = 6  # columns whose names have room side by side
_NARROW: Final = 660  # px of the picture on a screen of 1024
_SMALLER: Final = 3  # px that the text of a square may be smaller than all other
_NAME_EM: Final = 0.55  # of a character of a name, on average
# Widest em of a letter of Source Sans, and of any font of Chinese; of a digit and × it is 0.5.
_EM: Final = {"space": 0.25, "digit": 0.5, "letter": 0.8, "wide": 1.0}
_STEEP: Final = 26  # columns from which names stand upright and a square has room for one letter
_STEEP_PRESENTED: Final = 12  # as many on a projector
_TINY: Final = 12  # px of such names and letters, but on a projector
_COUNT: Final = re.compile(r"\d+k?× ")


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
    _draw_words(drawing, plane, labels, look)
    if labels.chosen and labels.chosen[0] in plane.rows and labels.chosen[1] in plane.columns:
        x, y = plane.columns.index(labels.chosen[1]), plane.rows.index(labels.chosen[0])
        line = {"color": look.color("text"), "width": 3}
        drawing.shape(type="rect", x0=x - 0.5, x1=x + 0.5, y0=y - 0.5, y1=y + 0.5, line=line)
    axes = _axes(plane, labels, look) | {"showlegend": False, "clickmode": "event+select"}
    figure = drawing.figure(layout | axes)
    first = {" ": [labels.rows[key] for key in plane.rows]}
    squares = {
        labels.columns[column]: [
            square_text(plane.cells[row, column], plane.fewest[row, column]) for row in plane.rows
        ]
        for column in plane.columns
    }
    return Picture(figure=figure, alt=_sentence(plane, labels), table={**first, **squares})


def is_steep(plane: Plane, look: Look) -> bool:
    """Return whether there are so many columns that only letters have room in them."""
    return len(plane.columns) >= (_STEEP_PRESENTED if look.present else _STEEP)


def _axes(plane: Plane, labels: Labels, look: Look) -> dict[str, Any]:
    """Return axes that start at the top left; many columns have their names at a slant, or up."""
    layout, num_rows = look.layout(), len(plane.rows)
    size = layout["font"]["size"]
    upright = size if look.present else _TINY
    names = [labels.columns[key] for key in plane.columns]
    slanted, steep = len(names) > _UPRIGHT, is_steep(plane, look)
    above = round(max(map(len, names)) * upright * 0.62) if steep else (7 if slanted else 2) * size
    still = {"showgrid": False, "zeroline": False, "fixedrange": True}
    across = {"side": "top", "tickvals": list(range(len(names))), "ticktext": names}
    down = {"tickvals": list(range(num_rows)), "ticktext": [labels.rows[key] for key in plane.rows]}
    return {
        "xaxis": layout["xaxis"]
        | still
        | across
        | {"range": [-0.5, len(names) - 0.5]}
        | ({"tickangle": -90, "tickfont": {"size": upright}} if steep else {})
        | ({} if steep else {"tickangle": -40 if slanted else 0}),
        "yaxis": layout["yaxis"] | still | down | {"range": [num_rows - 0.5, -0.5]},
        "height": round(num_rows * size * _ROW_HEIGHT) + above + size,
        "margin": {
            "l": 8,
            "r": 5 * size if slanted and not steep else 8,
            "t": above,
            "b": 4,
        },
    }


def shade(cell: Cell) -> str:
    """Return the meaning of a square's colour: coloured is what does not fit, by its cause."""
    if cell.reason:
        return COLORS.get(cell.reason, _OTHER)
    return "background" if cell.verdict == "fits" and not cell.sentence else "surface"


def _draw_squares(drawing: Drawing, plane: Plane, look: Look) -> None:
    stops = [
        [place / len(_SHADES), look.color(meaning)]
        for number, meaning in enumerate(_SHADES)
        for place in (number, number + 1)
    ]
    drawing.trace(
        "heatmap",
        z=[
            [_SHADES.index(shade(plane.cells[row, column])) for column in plane.columns]
            for row in plane.rows
        ],
        zmin=-0.5,
        zmax=len(_SHADES) - 0.5,
        colorscale=stops,
        showscale=False,
        hoverinfo="skip",
        xgap=2,
        ygap=2,
        opacity=_STRENGTH,
    )


def _written(plane: Plane, labels: Labels, look: Look) -> tuple[list[str], int]:
    """Return what stands in the squares, and its size: as large and whole as the widest has room.

    A letter alone would say that no number of devices is enough: the counts go from all or none.
    """
    pairs = [(row, column) for row in plane.rows for column in plane.columns]
    words = [square_text(plane.cells[pair], plane.fewest[pair]) for pair in pairs]
    size = look.layout()["font"]["size"]
    sizes = range(size, size - (0 if look.present else _SMALLER) - 1, -1)
    forms = [(px, times) for px in sizes for times in ("× ", "×")] + [(px, "") for px in sizes]
    room = _square_room(plane, labels, size)
    for px, times in [] if is_steep(plane, look) else forms:
        shorter = [each.replace("× ", times) for each in words]
        if max(map(_ems, shorter)) * px <= room:
            return shorter, px
    return [_COUNT.sub("", each) for each in words], size if look.present else _TINY


def _square_room(plane: Plane, labels: Labels, size: int) -> float:
    """Return the pixels of a square's width on a narrow screen, beside the longest name."""
    names = max(len(labels.rows[key]) for key in plane.rows) * _NAME_EM * size
    slant = 5 * size if len(plane.columns) > _UPRIGHT else size
    return (_NARROW - names - slant) / len(plane.columns)


def _ems(text: str) -> float:
    """Return how wide a text is at most, in sizes of its font, whatever the browser."""
    return sum(_EM[_kind(sign)] for sign in text)


def _kind(sign: str) -> str:
    if east_asian_width(sign) in "WF":
        return "wide"
    return "space" if sign == " " else "digit" if sign in "0123456789×" else "letter"


def _draw_words(drawing: Drawing, plane: Plane, labels: Labels, look: Look) -> None:
    where = [(row, column) for row in plane.rows for column in plane.columns]
    color = look.color("text")
    words, small = _written(plane, labels, look)
    drawing.scatter(
        x=[place for _row in plane.rows for place in range(len(plane.columns))],
        y=[place for place in range(len(plane.rows)) for _column in plane.columns],
        mode="markers+text",
        marker={"size": 24, "opacity": 0},
        text=words,
        textfont={"color": color, "size": small},
        customdata=[[*pair, hover_text(plane, labels, pair, look)] for pair in where],
        hovertemplate="%{customdata[2]}<extra></extra>",
        selected={"textfont": {"color": color}},
        unselected={"textfont": {"color": color}, "marker": {"opacity": 0}},
    )


def square_text(cell: Cell, fewest: int) -> str:
    """Return what stands in a square: a tick, or why not and how many devices would do."""
    if cell.sentence:
        return "–"
    if not cell.reason:
        return "✓" if cell.verdict == "fits" else "≈"
    if not fewest:
        return f"{'≈' if cell.is_guess else ''}{letter(cell.reason)}"
    count = f"{fewest // 1024}k" if fewest >= 1024 else str(fewest)
    return f"{'≈' if cell.is_guess else ''}{count}× {letter(cell.reason)}"


def letter(reason: str) -> str:
    """Return the letter of an item; an item without one of its own has its first."""
    return _(LETTERS[reason]) if reason in LETTERS else reason[:1].upper()


@dataclass(frozen=True, slots=True)
class Sign:
    """A sign of the picture, what it means, and the meaning of its square's colour."""

    text: str
    name: str
    color: str


def signs(plane: Plane) -> list[Sign]:
    """Return the legend: what fits, what may, and each cause that this picture has."""
    seen = dict.fromkeys(cell.reason for cell in plane.cells.values() if cell.reason)
    causes = [
        Sign(letter(name), _("{item} too large").format(item=_(name)), COLORS.get(name, _OTHER))
        for name in seen
    ]
    guessed = any(cell.is_guess for cell in plane.cells.values())
    close = [Sign("≈", _("borderline or guessed") if guessed else _("borderline"), "surface")]
    is_close = any(cell.verdict == "close" for cell in plane.cells.values())
    return [Sign("✓", _("fits"), "background"), *(close if is_close else []), *causes]


def count_sentence(plane: Plane, labels: Labels, look: Look) -> str:
    """Return what the numbers in the squares are, or where to find them."""
    words, _size = _written(plane, labels, look)
    has_counts = any(plane.fewest[pair] for pair, cell in plane.cells.items() if cell.reason)
    if has_counts and not any(map(str.isdigit, "".join(words))):
        return _("how many devices are enough stands in the table and under the pointer")
    return _("2×: two devices are enough")


def hover_text(plane: Plane, labels: Labels, pair: tuple[str, str], look: Look) -> str:
    """Return what a square says when the pointer stands on it."""
    cell, fewest = plane.cells[pair], plane.fewest[pair]
    head = f"<b>{labels.rows[pair[0]]}</b> · {labels.columns[pair[1]]}"
    if cell.need is None:
        return f"{head}<br>{cell.sentence}"
    sizes = _("{need} of {capacity}").format(
        need=hedged(look.format_bytes(cell.need.amount), cell.need),
        capacity=look.format_bytes(cell.capacity),
    )
    return "<br>".join([head, sizes, *_reason_lines(cell, fewest)])


def _reason_lines(cell: Cell, fewest: int) -> Sequence[str]:
    if cell.is_guess:
        return (_("guessed, or not all of it counted: nothing here is certain"),)
    if not cell.reason:
        return () if cell.verdict == "fits" else (_("fits, but not at the upper end of its band"),)
    first = _("the first that does not fit: {item}").format(item=_(cell.reason))
    if not fewest:
        return first, _("no number of devices is enough")
    enough = ngettext("{count} device is enough", "{count} devices are enough", fewest)
    return first, enough.format(count=fewest)


def _sentence(plane: Plane, labels: Labels) -> str:
    """Return how many squares fit, column by column."""
    unsure = sum(cell.is_guess for cell in plane.cells.values())
    fitting = [
        pair
        for pair, cell in plane.cells.items()
        if not (cell.reason or cell.sentence or cell.is_guess)
    ]
    per_column = [
        f"{labels.columns[key]} {sum(pair[1] == key for pair in fitting)}" for key in plane.columns
    ]
    said = _("Of {total} squares {count} fit. By column: {columns}.").format(
        total=len(plane.cells), count=len(fitting), columns=_(", ").join(per_column)
    )
    more = _("Guessed: {count}.").format(count=unsure)
    return f"{said} {more}" if unsure else said
