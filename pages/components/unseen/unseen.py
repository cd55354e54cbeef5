"""Three parts of the frame that draw nothing of their own.

live_slider: A slider's picture follows the hand that drags it. Streamlit's slider reports its value
    when the hand leaves it; the part lets go of it and takes it up again for the reader while the
    button is held, whenever the picture of the last value has come.
kept_zoom: A zoom, a tool and hidden lines stay when a slider moves. Streamlit makes a new chart
    element whenever a figure changes (its identity is a hash of the figure), so Plotly's own
    `uirevision`, which needs the old element, has nothing to keep. The part remembers what the
    reader did and does it again to the next chart of the same key and the same `layout.uirevision`.
    https://github.com/streamlit/streamlit/pull/16052 is open.
chart_room: On a narrow screen a chart is as wide as its words need. A figure is made where nobody
    knows the width of the screen; where words lie on each other or are cut, the chart gets more
    width than the screen has, and its frame scrolls.
"""

from pathlib import Path

import streamlit as st

_PARTS = {
    f"frame_{name}": st.components.v2.component(
        name,
        html="<i hidden></i>",
        js=Path(__file__).with_name(f"{name}.js").read_text(encoding="utf-8"),
    )
    for name in ("live_slider", "kept_zoom", "chart_room")
}


def mount_unseen_parts() -> None:
    """Mount the parts, once a page; they take no room."""
    for key, mount in _PARTS.items():
        mount(key=key, height="content")
