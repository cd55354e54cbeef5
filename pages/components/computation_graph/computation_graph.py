"""The computation graph: a capture drawn as boxes and links, its timeline played in the browser."""

from collections.abc import Callable
from typing import Literal

import streamlit as st

from core.autograd.collapse import View
from core.autograd.graph import Capture
from core.autograd.layout import Drawing
from pages.components.computation_graph.rows import graph_rows
from pages.components.computation_graph.words import EVENTS, WORDS
from pages.components.part import SVG, browser_part, translated
from pages.shared.settings import presenting, unit_system

Choice = Literal["selected", "step", "expanded", "closed"]
_mount = browser_part(__file__, *SVG, "shapes.js", "scene.js", "timeline.js", "camera.js", "map.js")


def computation_graph(  # noqa: PLR0913  what is shown, where, and who hears of a choice
    capture: Capture,
    view: View,
    drawing: Drawing,
    *,
    key: str,
    on_choice: Callable[[Choice, str], None],
    file_name: str,
    selected: str = "",
    step: int | None = None,
    room: int = 480,
    color_by_gradient: bool = False,
) -> None:
    """Show a captured graph and its timeline.

    `on_choice` is called with ("selected", id of a box), ("step", number, or "" of the last),
    ("expanded", path of a module to open) or ("closed", path of a module to close). `step` is the
    shown event, from 0; -1 is before all; None is the last.
    """
    data = graph_rows(capture, view, drawing, unit_system(), present=presenting()) | {
        "selected": selected,
        "step": step,
        "room": room,
        "file_name": file_name,
        "heated": color_by_gradient,
        "words": translated(WORDS),
        "sentences": translated(EVENTS),
    }

    def tell(what: Choice) -> Callable[[], None]:
        def told() -> None:
            value = st.session_state[key][what]
            if value is not None:
                on_choice(what, str(value))

        return told

    _mount(
        key=key,
        data=[data],
        height="content",
        on_selected_change=tell("selected"),
        on_step_change=tell("step"),
        on_expanded_change=tell("expanded"),
        on_closed_change=tell("closed"),
    )
