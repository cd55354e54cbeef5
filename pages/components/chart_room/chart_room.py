"""On a narrow screen a chart is as wide as its words need.

A figure is made where nobody knows the width of the reader's screen. The part in the browser looks
at what Plotly has drawn: where words lie on each other or are cut, the chart gets more width than
the screen has, and its frame scrolls.
"""

from pathlib import Path
from typing import Final

import streamlit as st

_FOLDER: Final = Path(__file__).parent
_mount = st.components.v2.component(
    "chart_room", html="<i hidden></i>", js=(_FOLDER / "chart_room.js").read_text(encoding="utf-8")
)


def give_charts_room() -> None:
    """Mount the part, once a page; it takes no room."""
    _mount(key="frame_rooms", height="content")
