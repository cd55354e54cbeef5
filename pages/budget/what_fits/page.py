"""Which model fits on which device, and what is the first that does not?"""

import streamlit as st

from pages.budget.what_fits.detail import show_detail
from pages.budget.what_fits.inputs import choose_case
from pages.budget.what_fits.question import ask_about_70b
from pages.budget.what_fits.tabs import CSS, REFEREE, choose_tab, show_tab, snippet
from pages.shared.header import page_header
from pages.shared.prose import prose
from pages.shared.snippets import show_code

page_header(__doc__)
st.html(CSS)
with st.container(key="fits_inputs", horizontal=True, vertical_alignment="bottom"):
    case = choose_case()
tab = choose_tab()
show_tab(tab, case)
detail, question, code = (None, *st.columns(2)) if tab == REFEREE else st.columns(3)
if detail is not None:
    with detail:
        show_detail(case)
with question:
    ask_about_70b()
with code:
    show_code("fits", snippet(tab, case))
prose(__file__, "reading")
