"""A picture with its explained numbers beside it; on a projector below it, where they have room."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared.settings import presenting


def beside(key: str) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return a place for the picture and a place for its numbers.

    Args:
        key: The page's short name and a name: "sizes_model".
    """
    if presenting():
        return st.container(), st.container(key=f"{key}_numbers_row", horizontal=True)
    picture, numbers = st.columns([5, 1])  # "Most on a device · estimated" in one line
    return picture, numbers
