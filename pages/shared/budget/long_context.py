"""A context beyond what the model was made for: told, not forbidden; bytes and FLOPs stay right."""

import streamlit as st

from core.language import _
from core.models.spec import ModelSpec


def note_long_context(spec: ModelSpec, num_tokens: int) -> None:
    """Say so if a sequence is longer than the model's context."""
    if num_tokens > spec.seq_len:
        st.caption(
            _(
                "{model} was made for {longest} tokens; beyond that its answers cannot be trusted, "
                "though bytes and FLOPs are right."
            ).format(model=spec.name, longest=f"{spec.seq_len:,}")
        )
