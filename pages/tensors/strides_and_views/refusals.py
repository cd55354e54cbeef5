"""What is said of a program that ends early: our sentence, torch's own words, and where."""

import streamlit as st

from core.expressions import ExpressionError
from core.language import _
from pages.shared.tabbed_page import Shown


def refusal(error: ExpressionError) -> None:
    """Show an error with its place; the steps before it stay in sight."""
    with st.container(key="strides_refused"):
        place = _("line {line}, column {column}").format(line=error.line, column=error.column + 1)
        st.markdown(f":material/block: **{error.message}** ({place})")
        if error.torch_message:
            st.code(error.torch_message.strip(), language=None, wrap_lines=True)


def refused_inputs(problem: ValueError) -> Shown:
    """Say why the tensor of the inputs cannot be."""
    st.error(str(problem))
    return Shown(headline=_("There is no such tensor."))
