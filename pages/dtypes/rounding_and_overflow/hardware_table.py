"""Which chips compute natively in a format, and who says so."""

from typing import Final

import streamlit as st

from core.dtypes.libraries.hardware import COLUMNS, HARDWARE, column_of
from core.dtypes.number_formats.format import Format
from core.figures.dtypes.rounding_and_overflow.hardware_matrix import (
    hardware_alt,
    hardware_matrix,
    hardware_table,
    source_rows,
)
from core.language import _
from pages.shared.charts import show_chart, table_markdown
from pages.shared.settings import presenting, theme_mode

FIRST_COLUMN: Final = next(iter(COLUMNS))


def hardware_headline(fmt: Format) -> str:
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


def show_hardware(fmt: Format) -> None:
    """Show chips by formats, the column of this format on a band, and its sources below."""
    column = column_of(fmt.name)
    show_chart(
        hardware_matrix(HARDWARE, column, theme_mode(), present=presenting()),
        key="rounding_hardware",
        alt=hardware_alt(HARDWARE, column),
        table=hardware_table(HARDWARE),
        file_name="hardware",
    )
    st.caption(_("? is unknown: no document was found that says it, and nothing is guessed."))
    with st.expander(_("Who says so, and when"), icon=":material/menu_book:"):
        st.markdown(table_markdown(source_rows(HARDWARE, column or FIRST_COLUMN)))
