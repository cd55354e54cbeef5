"""A zoom, a tool and hidden lines stay when a slider moves.

Streamlit makes a new chart element whenever a figure changes (its identity is a hash of the
figure), so Plotly's own `uirevision`, which needs the old element, has nothing to keep. The part in
the browser remembers what the reader did and does it again to the next chart of the same key and
the same `layout.uirevision`. https://github.com/streamlit/streamlit/pull/16052 is open.
"""

from pathlib import Path
from typing import Final

import streamlit as st

_FOLDER: Final = Path(__file__).parent
_mount = st.components.v2.component(
    "kept_zoom", html="<i hidden></i>", js=(_FOLDER / "kept_zoom.js").read_text(encoding="utf-8")
)


def keep_zooms() -> None:
    """Mount the part, once a page; it takes no room."""
    _mount(key="frame_zooms", height="content")
