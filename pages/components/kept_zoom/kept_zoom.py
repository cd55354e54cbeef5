"""A zoom, a tool and hidden lines stay when a slider moves.

Streamlit makes a new chart element whenever a figure changes (its identity is a hash of the
figure), so Plotly's own `uirevision`, which needs the old element, has nothing to keep. The part in
the browser remembers what the reader did and does it again to the next chart of the same key and
the same `layout.uirevision`. https://github.com/streamlit/streamlit/pull/16052 is open.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import streamlit as st

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_FOLDER: Final = Path(__file__).parent
_mount = st.components.v2.component(
    "kept_zoom", html="<i hidden></i>", js=(_FOLDER / "kept_zoom.js").read_text(encoding="utf-8")
)


def keep_zooms() -> None:
    """Mount the part, once a page; it takes no room."""
    _mount(key="frame_zooms", height="content")


def meaning(figure: "Figure", units: str) -> str:
    """Return what the axes of a figure mean: a zoom holds as long as this stays the same.

    Args:
        figure: A figure; one whose axes say too little adds what they miss in `layout.meta`.
        units: The reader's memory unit: the same bytes are another number in another unit.
    """
    layout = figure.layout
    axes = [layout[name] for name in layout if name.startswith(("xaxis", "yaxis"))]
    told = [f"{axis.type} {axis.title.text} {axis.ticksuffix}" for axis in axes]
    return " | ".join([units, str(layout.meta), *told])
