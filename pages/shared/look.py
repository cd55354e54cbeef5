"""The look that Streamlit's theme options cannot reach: a slim frame, and the projector's sizes."""

from pathlib import Path
from typing import Final

import streamlit as st

from pages.shared import settings

ICON: Final = Path(__file__).with_name("icon.svg")
_FOLDER: Final = Path(__file__).parent


def dress() -> None:
    """Put the frame's style sheets and the name of the product on the page."""
    st.logo(ICON, size="large", link=None)
    st.html(_FOLDER / "frame.css")
    if settings.presenting():
        st.html(_FOLDER / "present.css")
