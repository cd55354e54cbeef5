"""How many bytes do the weights of a model take?"""

import streamlit as st

from pages.budget.model_sizes.inputs import choose_case
from pages.budget.model_sizes.question import ask_what_does_not_fit
from pages.budget.model_sizes.tabs import CSS, PICTURES
from pages.shared.header import page_header
from pages.shared.prose import prose
from pages.shared.snippets import show_code

page_header(__doc__)
st.html(CSS)
tab, case = choose_case()
source = PICTURES[tab](case)
question, code = st.columns(2)
with question:
    ask_what_does_not_fit()
with code:
    show_code(tab, source)
prose(__file__, "reading")
