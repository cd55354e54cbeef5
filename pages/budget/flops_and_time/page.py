"""How many FLOPs does training take, and how long?"""

import streamlit as st

from core.language import _
from pages.budget.flops_and_time.question import ask_about_the_claim
from pages.budget.flops_and_time.tabs import CSS, PICTURES, choose_tab
from pages.shared.header import page_header
from pages.shared.prose import prose
from pages.shared.snippets import show_code

page_header(__doc__)
st.html(CSS)
tab, row = choose_tab()
source = PICTURES[tab](row)
question, code = st.columns(2)
with question:
    ask_about_the_claim()
with code:
    if source:
        show_code(tab, source)
    else:
        st.caption(_("There is no number to compute with these settings."))
prose(__file__, "reading")
