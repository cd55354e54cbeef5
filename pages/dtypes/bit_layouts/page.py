"""What does each bit of a number mean?"""

import streamlit as st

from core.language import _
from pages.dtypes.bit_layouts.designer import show_designer
from pages.dtypes.bit_layouts.grid import show_codes, show_grid
from pages.dtypes.bit_layouts.inputs import PAGE
from pages.dtypes.bit_layouts.numbers import show_numbers
from pages.dtypes.bit_layouts.question import ask_below_one
from pages.dtypes.bit_layouts.side import show_side
from pages.dtypes.bit_layouts.timeline import show_timeline
from pages.shared import pickers
from pages.shared.header import page_header
from pages.shared.prose import prose
from pages.shared.settings import presenting
from pages.shared.snippets import show_code

TABS = {
    "grid": show_grid,
    "side": show_side,
    "codes": show_codes,
    "numbers": show_numbers,
    "timeline": show_timeline,
    "designer": show_designer,
}


def tab_label(tab: str) -> str:
    """Return the word on the switch of a tab."""
    return {
        "grid": _("One number"),
        "side": _("Side by side"),
        "codes": _("All codes"),
        "numbers": _("Ranges and finfo"),
        "timeline": _("Timeline"),
        "designer": _("Designer"),
    }[tab]


page_header(__doc__)
bar = st.container(horizontal=True, vertical_alignment="bottom", key="bits_bar")
with bar:
    # A projector has room for one row of inputs.
    picker = pickers.selectbox if presenting() else pickers.segmented
    tab = picker(PAGE, "tab", _("Show"), list(TABS), default="grid", labels=tab_label)
snippet = TABS[tab](bar)
question, code, reading = st.columns(3)
with question, st.expander(_("Predict: how many numbers lie below 1?")):
    ask_below_one()
if snippet:
    with code:
        show_code(tab, snippet)
with reading, st.expander(_("How to read the bits"), icon=":material/menu_book:"):
    prose(__file__, "reading")
