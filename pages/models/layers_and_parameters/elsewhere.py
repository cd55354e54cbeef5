"""Where the same parameters are bytes, bits or the memory of training.

Why apart: it knows the addresses of other pages, and changes with them.
"""

import streamlit as st

from core.budget.catalogue.models import MODELS
from core.dtypes import FORMATS
from core.language import _
from core.models.small import SMALL, first_weight
from pages.components.bit_grid.bit_grid import hex_code
from pages.models.layers_and_parameters.inputs import ASK, Case
from pages.shared.page_links import show_link


def links(case: Case) -> None:
    """Show where this model goes on: its sizes, or the bits of its first weight."""
    with st.container(horizontal=True, key=ASK.key("elsewhere")):
        if case.key in MODELS:
            label = _("The bytes of {model} in every format →").format(model=case.title)
            show_link("budget/model_sizes", label, {"sizes_size": case.key})
        if case.key in SMALL:
            _to_its_bits(case.key)


def to_training_memory(case: Case, rank: int) -> None:
    """Show the link to the memory that training adapters of this rank takes."""
    query = {"memory_lora": "true", "memory_rank": str(rank)} if rank else {}
    if case.key in MODELS:
        query |= {"memory_model": case.key}
    show_link("budget/training_memory", _("The memory of training, activations included →"), query)


def _to_its_bits(key: str) -> None:
    value, fmt = first_weight(key), FORMATS["float32"]
    code = hex_code(fmt, int(fmt.encode(value)))
    query = {"bits_tab": "grid", "bits_format": fmt.name, "bits_code": code}
    label = _("The bits of its first weight, {value} →").format(value=f"{value:.6g}")
    show_link("dtypes/bit_layouts", label, query)
