"""The look that Streamlit's theme options cannot reach: colours by meaning, a slim frame, sizes."""

from pathlib import Path
from typing import Final

import streamlit as st

from core.figures.theme import css_variables
from pages.shared import settings

_FOLDER: Final = Path(__file__).parent
ICON: Final = _FOLDER / "icon.svg"


def dress() -> None:
    """Put the name of the product and the frame's style sheets on the page."""
    st.logo(_FOLDER / f"wordmark.{settings.language()}.svg", size="large")
    st.html(f"<style>.stApp{{{css_variables()}}}</style>")
    st.html(_FOLDER / "frame.css")
    if settings.presenting():
        st.html(_FOLDER / "present.css")
