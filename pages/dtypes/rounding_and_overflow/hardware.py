"""Which chips compute natively in a format, and who says so."""

from typing import Final

import streamlit as st

from core.dtypes.libraries.hardware import COLUMNS, HARDWARE, column_of
from core.dtypes.number_formats.format import Format
from core.figures.dtypes.rounding_and_overflow.hardware import hardware_picture, source_rows
from core.language import _
from pages.dtypes.rounding_and_overflow.inputs import Case
from pages.shared.charts import table_markdown
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

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
