"""What fills the memory of a device while a model trains?"""

import streamlit as st

from pages.budget.training_memory.code import memory_code
from pages.budget.training_memory.inputs import choose_all
from pages.budget.training_memory.question import ask_when_it_peaks
from pages.budget.training_memory.tabs import CSS, choose_tab, show_tab
from pages.shared.header import page_header
from pages.shared.prose import prose
from pages.shared.snippets import show_code

page_header(__doc__)
st.html(CSS)
chosen = choose_all()
tab = choose_tab()
show_tab(tab, chosen.case)
question, code = st.columns(2)
with question:
    ask_when_it_peaks()
with code:
    show_code("memory", memory_code(chosen))
prose(__file__, "reading")
