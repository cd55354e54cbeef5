"""How many readers can a device serve, and how fast?"""

import streamlit as st

from pages.budget.serving.inputs import choose_case
from pages.budget.serving.question import ask_how_many
from pages.budget.serving.tabs import CSS, choose_tab, show_tab
from pages.shared.header import page_header
from pages.shared.prose import prose
from pages.shared.snippets import show_code

page_header(__doc__)
st.html(CSS)
tab, case = choose_tab(choose_case())
show_tab(tab, case)
question, code = st.columns(2)
with question:
    ask_how_many()
with code:
    show_code("serve", case.code)
prose(__file__, "reading")
