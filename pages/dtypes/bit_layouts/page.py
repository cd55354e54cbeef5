"""What does each bit of a number mean?"""

import streamlit as st

from core.language import _
from pages.dtypes.bit_layouts import codes, designer, grid, numbers, side
from pages.dtypes.bit_layouts.inputs import ASK
from pages.shared.prose import prose
from pages.shared.tabbed_page import Page, tabbed_page


def _show_reading() -> None:
    with st.expander(_("How to read the bits"), icon=":material/menu_book:"):
        prose(__file__, "reading")


tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        tabs={
            "grid": grid.TAB,
            "side": side.TAB,
            "codes": codes.TAB,
            "numbers": numbers.TAB,
            "designer": designer.TAB,
        },
        reading=_show_reading,
    ),
)
