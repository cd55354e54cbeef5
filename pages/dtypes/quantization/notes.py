"""What is special about the tensor that is looked at, in a sentence each."""

import streamlit as st

from core.language import _, ngettext
from pages.dtypes.quantization.chosen import Chosen, sizes


def show_notes(chosen: Chosen) -> None:
    """Say what is special about this tensor, if anything is."""
    if chosen.is_cut:
        text = _("Looked at: the first {part} of a tensor of shape {shape}.")
        st.caption(text.format(part=sizes(chosen.x.shape), shape=sizes(chosen.shape)))
    if chosen.is_folded:
        text = _("Shape {shape} is looked at as {part}: blocks run along the last axis.")
        st.caption(text.format(part=sizes(chosen.x.shape), shape=sizes(chosen.shape)))
    if chosen.stored_as:
        text = _(
            "The values are what {dtype} says: a scale that the file keeps in another tensor is "
            "not applied."
        )
        st.caption(text.format(dtype=f"`{chosen.stored_as}`"))
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
