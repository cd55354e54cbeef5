"""What does a tensor lose in 8 or 4 bits?"""

import streamlit as st

from core.language import _, ngettext
from pages.panels.dtypes.quantization.inputs import (
    Case,
    choose_format,
    choose_sample,
    choose_storages,
    choose_where,
)
from pages.panels.dtypes.quantization.questions import ask_about_outliers
from pages.panels.dtypes.quantization.tabs import CSS, PICTURES, choose_tab
from pages.panels.dtypes.quantization.tensor import Chosen, choose_tensor, make_tensor
from pages.panels.dtypes.quantization.trials import Pair
from pages.shared.header import page_header
from pages.shared.prose import prose
from pages.shared.snippets import show_code

CODE = """
from core.dtypes.blocks.read_array import read_array
from core.dtypes.blocks.storage import find_storage
from core.dtypes.blocks.teaching_tensors import looked_at, teaching_tensor
from core.train.rundir import runs_directory
from core.train.weights import read_weight

x = looked_at({tensor})
for storage in ({first}, {second}):
    kept = storage.store(x)
    print(f"{{storage.name}}: {{kept.stats.sqnr_db:.1f}} dB at {{storage.bits_per_value:.4g}} bits")
"""


def snippet(chosen: Chosen, pair: Pair) -> str:
    """Return Python that prints quality and size of both formats."""
    first, second = (storage.code for storage in pair)
    return CODE.format(tensor=chosen.code, first=first, second=second)


def sizes(shape: tuple[int, ...]) -> str:
    """Return a shape as it is spoken."""
    return " × ".join(map(str, shape))


def show_notes(chosen: Chosen) -> None:
    """Say what is special about this tensor, if anything is."""
    if chosen.is_cut:
        st.caption(
            _("Looked at: the first {part} of a tensor of shape {shape}.").format(
                part=sizes(chosen.x.shape), shape=sizes(chosen.shape)
            )
        )
    if chosen.num_not_finite:
        text = ngettext(
            "{count} value is NaN or infinite; what shares a scale with it is lost, and the "
            "decibels speak of the rest.",
            "{count} values are NaN or infinite; what shares a scale with them is lost, and the "
            "decibels speak of the rest.",
            chosen.num_not_finite,
        )
        st.caption(text.format(count=chosen.num_not_finite))
    if chosen.is_zero:
        st.caption(
            _("All values are zero: no scale fits better than another, and nothing is lost.")
        )


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
