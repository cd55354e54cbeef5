"""How many bytes do the weights of a model take?"""

import streamlit as st

from pages.panels.budget.sizes_inputs import choose_case
from pages.panels.budget.sizes_questions import ask_what_does_not_fit
from pages.panels.budget.sizes_tabs import CSS, PICTURES, choose_tab
from pages.shared.header import page_header
from pages.shared.prose import prose
from pages.shared.snippets import show_code

CODE = """
from core.budget.hf_config import read_config
from core.budget.sizes import FORMAT_NAMES, SIZES, size_of, weights_in

size = {size}
print(f"{{size.name}}: {{size.num_params:,}} parameters")
for name in FORMAT_NAMES:
    weights = weights_in(size, name, rest_in_16_bits={rest})
    print(f"{{name:18}} {{weights.amount / 2**30:10.2f}} GiB = {{weights.substituted}} bytes")
"""

page_header(__doc__)
st.html(CSS)
case = choose_case()
tab = choose_tab()
PICTURES[tab](case)
question, code = st.columns(2)
with question:
    ask_what_does_not_fit()
with code:
    show_code("weights", CODE.format(size=case.code, rest=case.rest_in_16_bits))
prose(__file__, "reading")
