"""The look that Streamlit's theme options cannot reach: colours by meaning, a slim frame, sizes."""

from pathlib import Path
from typing import Final

import streamlit as st

from pages.shared import settings

_FOLDER: Final = Path(__file__).parent
ICON: Final = _FOLDER / "icon.svg"


def dress() -> None:
    """Put the name of the product on the page, and a projector's style sheet.

    The frame's own style comes with the page: `pages.server.first_look`.
    """
    st.logo(_FOLDER / f"wordmark.{settings.language()}.svg", size="large")
    if settings.presenting():
        st.html(_FOLDER / "present.css")
