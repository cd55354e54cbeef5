"""Which chip computes in which format, as marks, a sentence and a table."""

from collections.abc import Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from core.dtypes.libraries.hardware import (
    COLUMNS,
    STATUS_WORDS,
    STATUSES,
    Cell,
    Chip,
    Source,
    Status,
)
from core.figures.dtypes.rounding_and_overflow.mark_matrix import Look, Mark, mark_matrix
from core.figures.theme import Mode
from core.language import _

_SYMBOLS: Final[Mapping[Status, tuple[str, str]]] = {
    "matrix": ("square", "matrix_units"),
    "vector": ("circle", "vector_units"),
    "converted": ("triangle-down-open", "converted"),
    "no": ("x-thin", "absent"),
    "unknown": ("?", "muted"),
}


def hardware_matrix(
    chips: Sequence[Chip], column: str | None, mode: Mode = "light", *, present: bool = False
) -> go.Figure:
    """Draw a row a chip and a column a format; the column in question lies on a band.

    Args:
        chips: The rows.
        column: A key of `COLUMNS`, or None.
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    marks = {
        (chip.name, name): Mark(kind=cell.status, hover=cell_words(chip, name))
        for chip in chips
        for name, cell in chip.cells.items()
    }
    looks: dict[str, Look] = {
        status: Look(words=_(STATUS_WORDS[status]), symbol=symbol, meaning=meaning)
        for status, (symbol, meaning) in _SYMBOLS.items()
    }
    return mark_matrix(marks, looks, mode, present=present, lit=column)


def cell_words(chip: Chip, column: str) -> str:
    """Return what one chip does with one format, who says so, and when."""
    cell = chip.cells[column]
    lines = [f"<b>{chip.name}</b> · {column}: {_(STATUS_WORDS[cell.status])}"]
    if cell.note:
        lines.append(_(cell.note))
    if cell.source is not None:
        lines.append(f"{cell.source.title} ({cell.source.date})")
    return "<br>".join(lines)


def hardware_alt(chips: Sequence[Chip], column: str | None) -> str:
    """Return the picture as a sentence; about one column if there is one in question."""
    if column is None:
        return _("{chips} chips by {formats} formats: what each computes natively.").format(
            chips=len(chips), formats=len(COLUMNS)
        )
    parts = []
    for status in STATUSES:
        names = [chip.name for chip in chips if chip.status(column) == status]
        if names:
            parts.append(f"{_(STATUS_WORDS[status])}: {_(', ').join(names)}")
    return _("{format} on {chips} chips. {parts}.").format(
        format=column, chips=len(chips), parts=_("; ").join(parts)
    )


def hardware_table(chips: Sequence[Chip]) -> dict[str, list[str]]:
    """Return the picture as a table: a row a chip, a column a format."""
    table = {_("chip"): [f"{chip.name}, {chip.year}, {chip.architecture}" for chip in chips]}
    for column in COLUMNS:
        table[column] = [_(STATUS_WORDS[chip.status(column)]) for chip in chips]
    return table


def source_rows(chips: Sequence[Chip], column: str) -> dict[str, list[str]]:
    """Return the cells of one column with their sources."""
    cells: list[tuple[Chip, Cell]] = [(chip, chip.cells[column]) for chip in chips]
    return {
        _("chip"): [chip.name for chip, _cell in cells],
        column: [_(STATUS_WORDS[cell.status]) for _chip, cell in cells],
        _("source"): [_linked(cell.source) for _chip, cell in cells],
        _("date"): [cell.source.date if cell.source else "–" for _chip, cell in cells],
        _("note"): [_(cell.note) if cell.note else "" for _chip, cell in cells],
    }


def _linked(source: Source | None) -> str:
    """Return a source as Markdown, its title a link to its address."""
    if source is None:
        return "–"
    return f"[{source.title}]({source.address})" if source.address else source.title
