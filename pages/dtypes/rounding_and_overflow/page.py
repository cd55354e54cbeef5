"""What happens to a number that a format cannot hold?"""

import streamlit as st

from core.dtypes.cast.cast_trace import CastTrace
from core.figures.dtypes.rounding_and_overflow.cast_words import digits, precision
from core.language import _
from pages.dtypes.rounding_and_overflow.inputs import PAGE, Wish, choose_cast
from pages.dtypes.rounding_and_overflow.lamps import CSS, show_lamps
from pages.dtypes.rounding_and_overflow.library_tabs import LIBRARY_TABS
from pages.dtypes.rounding_and_overflow.question import ask_a_small_number, ask_beyond_the_largest
from pages.dtypes.rounding_and_overflow.reason import show_reason
from pages.dtypes.rounding_and_overflow.tabs import PICTURES
from pages.shared import pickers
from pages.shared.as_typed import as_typed
from pages.shared.header import headline, page_header
from pages.shared.prose import prose
from pages.shared.settings import presenting
from pages.shared.snippets import show_code

CODE = """
from core.dtypes import FORMATS
from core.dtypes.cast.explain_cast import explain_cast

value = {text!r}{first}
trace = explain_cast(FORMATS[{format!r}], value, {rounding!r}, {overflow!r}{chance})
print(trace.result, trace.outcome, trace.reason)
"""
FIRST = """
value = explain_cast(FORMATS["float32"], value).result  # rounded twice, as libraries do"""


def tab_label(tab: str) -> str:
    """Return the word on the switch of a tab."""
    return {
        "zoom": _("Neighbours"),
        "formats": _("Formats"),
        "modes": _("Modes"),
        "line": _("Number line"),
        "spacing": _("Spacing"),
        "stochastic": _("Stochastic"),
        "torch": _("Your torch"),
        "hardware": _("Hardware"),
        "proof": _("Proof"),
    }[tab]


def answer(wish: Wish, trace: CastTrace) -> str:
    """Return the sentence that states what is stored."""
    template = _("{number} in {format} = {result}")
    if wish.via_fp32:
        template = _("{number} through float32 in {format} = {result}")
    result = digits(trace.result, precision(wish.fmt))
    return template.format(number=as_typed(wish.said), format=wish.fmt.name, result=result)


def snippet(wish: Wish) -> str:
    """Return Python that prints what is stored."""
    drawn = wish.rounding == "stochastic"
    return CODE.format(
        text=wish.text.strip(),
        first=FIRST if wish.via_fp32 else "",
        format=wish.fmt.name,
        rounding=wish.rounding,
        overflow=wish.overflow,
        chance=f", chance={wish.chance}" if drawn else "",
    )


def show(wish: Wish | ValueError) -> None:
    """Show what is stored, the lamps and the picture of the open tab; or why nothing can be."""
    said = st.container(key="rounding_answer", horizontal=True, vertical_alignment="center")
    reason = st.container(key="rounding_reason")
    tabs = (*PICTURES, *LIBRARY_TABS)
    row = st.container(key="rounding_tabs", horizontal=True, vertical_alignment="center")
    with row:
        picker = pickers.selectbox if presenting() else pickers.segmented
        tab = picker(PAGE, "tab", _("Show"), tabs, default="zoom", labels=tab_label)
    if isinstance(wish, ValueError):
        with said:
            headline(as_typed(str(wish)))
        return
    if tab in LIBRARY_TABS:
        # What it says is known only when the libraries have answered, which takes a while.
        words = LIBRARY_TABS[tab](wish)
        with said:
            headline(words)
    else:
        trace = wish.cast()
        with said:
            headline(answer(wish, trace))
            show_lamps(trace)
        with reason:
            show_reason(wish, trace)
        PICTURES[tab](wish, trace, row)
    show_code("cast", snippet(wish))


page_header(__doc__)
st.html(CSS)
try:
    asked: Wish | ValueError = choose_cast()
except ValueError as refusal:
    asked = refusal
show(asked)
left, right = st.columns(2)
with left:
    ask_beyond_the_largest()
with right:
    ask_a_small_number()
prose(__file__, "reading")
