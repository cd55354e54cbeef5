"""Adapters on frozen weights: whether, how wide, where, and how the frozen weights are stored."""

from typing import Final

import streamlit as st

from core.budget.recipe import LoRA
from core.language import _
from pages.budget.training_memory.words import targets_label
from pages.shared import pickers

RANKS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
TARGETS: Final = {
    "qv": ("q", "v"),
    "attention": ("q", "k", "v", "o"),
    "all": ("q", "k", "v", "o", "gate", "up", "down"),
}
BASES: Final = ("bfloat16", "int8_channel", "nf4", "nf4_double_quant", "mxfp4", "nvfp4")


def choose_lora(page: str) -> LoRA | None:
    """Show the choices in a popover and return the adapters; None trains every weight."""
    with st.popover("LoRA", icon=":material/compress:", key="memory_lora_open", width="content"):
        wanted = pickers.toggle(page, "lora", _("Train adapters only"), default=False)
        rank = pickers.select_slider(page, "rank", _("Rank"), RANKS, default=8, disabled=not wanted)
        targets = pickers.segmented(
            page,
            "targets",
            _("Matrices"),
            tuple(TARGETS),
            default="qv",
            labels=targets_label,
            disabled=not wanted,
        )
        base = pickers.selectbox(
            page,
            "base",
            _("Frozen weights (QLoRA: nf4)"),
            BASES,
            default="bfloat16",
            disabled=not wanted,
        )
    return LoRA(rank=rank, targets=TARGETS[targets], base_format=base) if wanted else None
