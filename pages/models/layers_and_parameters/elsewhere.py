"""Where the same parameters are bytes, bits or the memory of training.

Why apart: it knows the addresses of other pages, and changes with them.
"""

import streamlit as st

from core.budget.catalogue.as_config import config_of
from core.budget.catalogue.models import MODELS
from core.language import _
from core.models.small import SMALL, first_weight
from core.models.spec import GPTShape
from pages.models.layers_and_parameters.inputs import ASK, Case
from pages.shared.models.bits_link import show_bits_link
from pages.shared.page_links import show_link


def links(case: Case) -> None:
    """Show where this model goes on: its sizes, or the bits of its first weight."""
    with st.container(horizontal=True, key=ASK.key("elsewhere")):
        if case.key in SMALL:
            label = _("The bits of its first weight, {value} →")
            show_bits_link(label, first_weight(case.key))
        else:
            label = _("The bytes of {model} in every format →").format(model=_called(case))
            in_catalogue = {"sizes_size": case.key}
            show_link(
                "plan/model_sizes",
                label,
                in_catalogue if case.key in MODELS else {"sizes_config": _config(case)},
            )


def to_training_memory(case: Case, rank: int) -> None:
    """Show the link to the memory that training adapters of this rank takes."""
    query = {"memory_lora": "true", "memory_rank": str(rank)} if rank else {}
    if case.key in MODELS:
        query |= {"memory_model": case.key}
    elif case.key not in SMALL:
        query |= {"memory_model": "own", "memory_config": _config(case)}
    show_link("plan/training_memory", _("The memory of training, activations included →"), query)


def _called(case: Case) -> str:
    """Return what the model is called there, where our GPT is known as a GPT-2 with biases."""
    return _("a GPT-2 of these sizes") if isinstance(case.source, GPTShape) else case.title


def _config(case: Case) -> str:
    return "" if isinstance(case.source, str) else config_of(case.source)
