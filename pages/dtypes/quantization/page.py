"""What does a tensor lose in 8 or 4 bits?"""

import streamlit as st

from core.language import _
from pages.dtypes.quantization.codes import snippet
from pages.dtypes.quantization.inputs import (
    Case,
    choose_format,
    choose_sample,
    choose_storages,
    choose_where,
)
from pages.dtypes.quantization.notes import show_notes
from pages.dtypes.quantization.question import ask_about_outliers
from pages.dtypes.quantization.tabs import CSS, PICTURES, choose_tab
from pages.dtypes.quantization.tensor import choose_tensor, make_tensor
from pages.shared.header import page_header
from pages.shared.prose import prose
from pages.shared.snippets import show_code

page_header(__doc__)
st.html(CSS)
with st.container(key="quant_inputs", horizontal=True, vertical_alignment="bottom"):
    tensor = choose_tensor()
    first = choose_format("a", _("Format A"), "nvfp4")
    second = choose_format("b", _("Format B"), "int4_group128")
    with st.popover(_("Settings"), icon=":material/tune:", key="quant_settings", width="content"):
        pair, group = choose_storages((first, second))
        size, seed = choose_sample()
        where = choose_where()
chosen = make_tensor(tensor, size, seed)
tab = choose_tab()
case = Case(chosen=chosen, pair=pair, where=where, group=group)
PICTURES[tab](case)
show_notes(chosen)
question, code = st.columns(2)
with question:
    ask_about_outliers()
with code:
    show_code(tab, snippet(tab, case))
prose(__file__, "reading")
