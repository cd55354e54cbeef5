"""How many devices there are, and how the model is spread over them."""

import streamlit as st

from core.language import _
from pages.budget.training_memory.words import sharding_label
from pages.shared import pickers
from pages.shared.budget.offered_sizes import EXPERTS, REPLICAS, STAGES, TENSOR


def choose_layout(page: str) -> dict[str, int]:
    """Show the choices in a popover and return fields of `Cluster` by name."""
    with st.popover(
        _("Devices"), icon=":material/dns:", key="memory_devices_open", width="content"
    ):
        data = pickers.select_slider(
            page, "replicas", _("Replicas (data)"), REPLICAS, default=1, labels="{:,}".format
        )
        zero = _choose_sharding(page)
        tensor = pickers.select_slider(page, "tensor", _("Tensor ranks"), TENSOR, default=1)
        sequence = pickers.toggle(page, "sequence", _("Sequence parallelism"), default=False)
        stages = pickers.select_slider(page, "stages", _("Pipeline stages"), STAGES, default=1)
        expert = pickers.select_slider(page, "expert", _("Expert ranks"), EXPERTS, default=1)
    return {
        "num_devices": data * tensor * stages,
        "zero_stage": int(zero),
        "tensor": tensor,
        "sequence_parallel": sequence,
        "pipeline": stages,
        "expert": expert,
    }


def _choose_sharding(page: str) -> str:
    return pickers.selectbox(
        page,
        "zero",
        _("Shared out over the replicas"),
        ("0", "1", "2", "3"),
        default="0",
        labels=sharding_label,
    )
