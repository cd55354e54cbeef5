"""A number to flip on home: the first of the bits that the name of the product means."""

from typing import Final

import streamlit as st

from core.dtypes import FORMATS
from core.language import _
from pages.components.bit_grid.bit_grid import bit_grid
from pages.shared import link
from pages.shared.navigation import page_row
from pages.shared.settings import language, locked

FORMAT: Final = "bfloat16"
CODE: Final = 0x4049  # the nearest to pi
_PAGE: Final = "dtypes/bit_layouts"
_WANTED: Final = "home_number_wanted"


def show_number() -> None:
    """Show sixteen bits to flip; the link takes the number to its page."""
    row = page_row(_PAGE)
    if taken := st.session_state.pop(_WANTED, ""):
        number = {"bits_tab": "grid", "bits_format": FORMAT, "bits_code": taken}
        st.switch_page(row.file, query_params={**link.defaults_of(_PAGE), **number})
    bit_grid(
        FORMATS[FORMAT],
        CODE,
        key="home_grid",
        title=_("Flip a bit: bfloat16, the format of GPTs"),
        on_open=_open,
        target=f"/{row.address}?lang={language()}",
        size="mini",
        locked=locked(),
    )


def _open(code: str) -> None:
    """Take the number to the page of the bits."""
    st.session_state[_WANTED] = code
