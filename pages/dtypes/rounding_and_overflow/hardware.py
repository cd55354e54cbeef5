"""Which chips compute natively in a format, and who says so."""

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from core.dtypes.libraries.hardware import (
    COLUMNS,
    HARDWARE,
    STATUS_WORDS,
    STATUSES,
    Chip,
    Source,
    Status,
    column_of,
)
from core.dtypes.number_formats.format import Format
from core.figures.dtypes.rounding_and_overflow.matrix import Kind, Mark, mark_matrix
from core.figures.picture import Look, Picture, Table
from core.language import _
from pages.dtypes.rounding_and_overflow.inputs import Case
from pages.shared.charts import table_markdown
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

_SYMBOLS: Final[Mapping[Status, tuple[str, str]]] = {
    "matrix": ("square", "matrix_units"),
    "vector": ("circle", "vector_units"),
    "converted": ("triangle-down-open", "converted"),
    "no": ("x-thin", "absent"),
    "unknown": ("?", "muted"),
}
_FIRST_COLUMN: Final = next(iter(COLUMNS))


def hardware(case: Case) -> Shown:
    """Show chips by formats, the column of this format on a band, and its sources below."""
    column = column_of(case.fmt.name)
    picture = hardware_picture(HARDWARE, column, look())

    def show_sources() -> None:
        with st.expander(_("Who says so, and when"), icon=":material/menu_book:"):
            st.markdown(table_markdown(source_rows(HARDWARE, column or _FIRST_COLUMN)))

    return Shown(
        headline=sentence(case.fmt),
        charts=[Chart(picture=picture, file_name="hardware")],
        notes=[_("? is unknown: no document was found that says it, and nothing is guessed.")],
        below=show_sources,
    )


def sentence(fmt: Format) -> str:
    """Return how many of the chips multiply a format in units for matrices."""
    column = column_of(fmt.name)
    if column is None:
        return _(
            "{format} has no column: none of these {total} chips is known to compute in it"
        ).format(format=fmt.name, total=len(HARDWARE))
    able = sum(chip.status(column) == "matrix" for chip in HARDWARE)
    return _("{format}: {count} of {total} chips multiply it in matrix units").format(
        format=column, count=able, total=len(HARDWARE)
    )


def hardware_picture(chips: Sequence[Chip], column: str | None, look: Look) -> Picture:
    """Return a row a chip and a column a format; the column in question lies on a band.

    The column is a key of `COLUMNS`, or None.
    """
    marks = {
        (chip.name, name): Mark(kind=cell.status, hover=cell_words(chip, name))
        for chip in chips
        for name, cell in chip.cells.items()
    }
    kinds: dict[str, Kind] = {
        status: Kind(words=_(STATUS_WORDS[status]), symbol=symbol, meaning=meaning)
        for status, (symbol, meaning) in _SYMBOLS.items()
    }
    table = {_("chip"): [f"{chip.name}, {chip.year}, {chip.architecture}" for chip in chips]}
    for name in COLUMNS:
        table[name] = [_(STATUS_WORDS[chip.status(name)]) for chip in chips]
    figure = mark_matrix(marks, kinds, look, lit=column)
    return Picture(figure=figure, alt=_sentence(chips, column), table=table)


def cell_words(chip: Chip, column: str) -> str:
    cell = chip.cells[column]
    lines = [f"<b>{chip.name}</b> · {column}: {_(STATUS_WORDS[cell.status])}"]
    if cell.note:
        lines.append(_(cell.note))
    if cell.source is not None:
        lines.append(f"{cell.source.title} ({cell.source.date})")
    return "<br>".join(lines)


def _sentence(chips: Sequence[Chip], column: str | None) -> str:
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


def source_rows(chips: Sequence[Chip], column: str) -> Table:
    cells = [chip.cells[column] for chip in chips]
    return {
        _("chip"): [chip.name for chip in chips],
        column: [_(STATUS_WORDS[cell.status]) for cell in cells],
        _("source"): [_linked(cell.source) for cell in cells],
        _("date"): [cell.source.date if cell.source else "–" for cell in cells],
        _("note"): [_(cell.note) if cell.note else "" for cell in cells],
    }


def _linked(source: Source | None) -> str:
    if source is None:
        return "–"
    return f"[{source.title}]({source.address})" if source.address else source.title
