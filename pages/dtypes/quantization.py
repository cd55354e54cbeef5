"""What does a tensor lose in 8 or 4 bits?"""

import streamlit as st

from core.language import _
from pages.panels.dtypes.quantization.chosen import Chosen
from pages.panels.dtypes.quantization.inputs import (
    Case,
    choose_format,
    choose_sample,
    choose_storages,
    choose_where,
)
from pages.panels.dtypes.quantization.notes import show_notes
from pages.panels.dtypes.quantization.questions import ask_about_outliers
from pages.panels.dtypes.quantization.tabs import CSS, PICTURES, choose_tab
from pages.panels.dtypes.quantization.tensor import choose_tensor, make_tensor
from pages.panels.dtypes.quantization.trials import Pair
from pages.shared.header import page_header
from pages.shared.prose import prose
from pages.shared.snippets import show_code

CODE = """
{imports}

x = {tensor}
for storage in ({first}, {second}):
    kept = storage.store(x)
    print(f"{{storage.name}}: {{kept.stats.sqnr_db:.1f}} dB at {{storage.bits_per_value:.4g}} bits")
"""
FIND = "from core.dtypes.blocks.storage import find_storage"


def snippet(chosen: Chosen, pair: Pair) -> str:
    """Return Python that prints quality and size of both formats."""
    first, second = (storage.code for storage in pair)
    imports = "\n".join(sorted({FIND, *chosen.imports}))
    return CODE.format(imports=imports, tensor=chosen.code, first=first, second=second)


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
PICTURES[tab](Case(chosen=chosen, pair=pair, where=where, group=group))
show_notes(chosen)
question, code = st.columns(2)
with question:
    ask_about_outliers()
with code:
    show_code("store", snippet(chosen, pair))
prose(__file__, "reading")
