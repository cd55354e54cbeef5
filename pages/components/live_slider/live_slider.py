"""A slider's picture follows the hand that drags it.

Streamlit's slider reports its value when the hand leaves it. The part in the browser lets go of it
and takes it up again for the reader while the button is held, whenever the picture of the last
value has come; Streamlit's own slider, its keys and what a screen reader hears stay as they are.
"""

from pathlib import Path
from typing import Final

import streamlit as st

_FOLDER: Final = Path(__file__).parent
_mount = st.components.v2.component(
    "live_slider",
    html="<i hidden></i>",
    js=(_FOLDER / "live_slider.js").read_text(encoding="utf-8"),
)


def follow_the_hand() -> None:
    """Mount the part, once a page; it takes no room."""
    _mount(key="frame_sliders", height="content")
