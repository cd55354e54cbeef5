"""What a page shows for inputs that cannot be."""

import streamlit as st

from core.language import _
from pages.shared.tabbed_page import Shown


def refused_inputs(headline: str, problem: ValueError) -> Shown:
    """Say why there is nothing to show."""
    st.error(str(problem), icon=":material/block:")
    return Shown(headline=_(headline))
