"""Where else an element, or the bytes of a program, can be looked at.

Why apart: it knows the addresses of two other pages, and changes with them.
"""

import streamlit as st

from core.dtypes import FORMATS
from core.language import _
from core.tensors.trace import TracedTensor
from pages.components.bit_grid.bit_grid import hex_code
from pages.shared.page_links import show_link
from pages.tensors.strides_and_views.inputs import ASK, Case


def links(case: Case, shown: TracedTensor, address: int | None) -> None:
    """Show the links of an element; of none, those of the program alone.

    Args:
        case: The program.
        shown: The tensor that is looked at.
        address: Of the element in its storage.
    """
    with st.container(horizontal=True, key=ASK.key("elsewhere")):
        if address is not None:
            _to_its_bits(case, shown, address)
        _to_training_memory(case)


def _to_its_bits(case: Case, shown: TracedTensor, address: int) -> None:
    (storage,) = [each for each in case.trace.storages if each.key == shown.storage]
    is_known = storage.dtype == shown.dtype and address < len(storage.values)
    if shown.dtype not in FORMATS or not is_known:
        return
    fmt, value = FORMATS[shown.dtype], storage.values[address]
    label = _("The bits of {value} in {dtype} →").format(value=f"{value:g}", dtype=fmt.name)
    code = hex_code(fmt, int(fmt.encode(value)))
    query = {"bits_tab": "grid", "bits_format": fmt.name, "bits_code": code}
    show_link("dtypes/bit_layouts", label, query)


def _to_training_memory(case: Case) -> None:
    preset = case.preset
    if preset is None or not preset.model:
        return
    query = {
        "memory_model": preset.model,
        "memory_batch": str(preset.batch),
        "memory_seq": str(preset.seq),
    }
    label = _("What training {model} keeps at this size →").format(model=preset.of)
    show_link("plan/training_memory", label, query)
