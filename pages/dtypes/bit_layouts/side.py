"""The same number in many formats, their bits aligned where the mantissa begins."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.dtypes import FORMATS
from core.dtypes.cast.explain_cast import explain_cast
from core.dtypes.exact import parse_value
from core.language import _
from pages.dtypes.bit_layouts.inputs import GROUPS, HIGHLIGHTS, PAGE, picked_group
from pages.dtypes.bit_layouts.snippets import side_snippet
from pages.shared import pickers, settings
from pages.shared.charts import show_chart
from pages.shared.header import headline

DEFAULT_VALUE = "3.141592653589793"
NUMBER_WIDTH = 220


def show_side(bar: DeltaGenerator) -> str:
    """Draw the bits of a number in a group of formats; return a program that prints them."""
    with bar:
        with st.container(width=NUMBER_WIDTH):
            said = pickers.text(
                PAGE,
                "value",
                _("Number"),
                default=DEFAULT_VALUE,
                max_chars=60,
                help=_("65519.99, 1e-8, 1/3, 2^-25, 0x1.8p3, inf or nan; read without rounding."),
            )
        group = picked_group()
    try:
        parse_value(said)
    except ValueError as error:
        headline(_("Not a number yet"))
        st.error(str(error))
        return ""
    _draw(said.strip(), group)
    return side_snippet(GROUPS[group], said.strip())


def _draw(said: str, group: str) -> None:
    from core.figures.dtypes.bit_layouts.bit_row_words import (
        BitRow,
        bit_rows_alt,
        bit_rows_table,
        half_sentence,
    )
    from core.figures.dtypes.bit_layouts.bit_rows import bit_rows_figure

    rows = [
        BitRow(fmt=FORMATS[name], trace=explain_cast(FORMATS[name], said)) for name in GROUPS[group]
    ]
    by_name = {row.fmt.name: row for row in rows}
    shown = [f"`{name}` {by_name[name].stored}" for name in HIGHLIGHTS[group]]
    headline(_("{value} is stored as {numbers}").format(value=said, numbers=" · ".join(shown)))
    if sentence := half_sentence(rows):
        st.caption(sentence)
    show_chart(
        bit_rows_figure(rows, settings.theme_mode(), present=settings.presenting()),
        key="bits_side",
        alt=bit_rows_alt(said, rows),
        table=bit_rows_table(rows),
        file_name="one-number-in-many-formats",
    )
