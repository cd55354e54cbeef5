"""The pictures of the serving page, one a tab: only the open one is computed."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import streamlit as st

from core.budget.serving.memory import AXES, Axis
from core.language import _
from pages.budget.serving.inputs import PAGE, ServingCase
from pages.budget.serving.memory_tab import show_heads, show_memory
from pages.budget.serving.speed_tabs import show_proof, show_roofline, show_speed
from pages.shared import pickers

CSS: Final = Path(__file__).with_name("page.css")
PICTURES: Final[Mapping[str, Callable[[ServingCase], None]]] = {
    "memory": show_memory,
    "heads": show_heads,
    "speed": show_speed,
    "roofline": show_roofline,
    "proof": show_proof,
}


def tab_label(tab: str) -> str:
    """Return the word on the switch of a tab."""
    return {
        "memory": _("Device memory"),
        "heads": _("KV cache"),
        "speed": _("Speed"),
        "roofline": _("Roofline"),
        "proof": _("Proof"),
    }[tab]


def choose_tab(case: ServingCase) -> tuple[str, ServingCase]:
    """Show the tabs; return the open one, and the case with the axis of its picture."""
    with st.container(key="serving_tabs", horizontal=True, horizontal_alignment="distribute"):
        tab = pickers.segmented(
            PAGE, "tab", _("Show"), tuple(PICTURES), default="memory", labels=tab_label
        )
        if tab == "memory":
            axis = pickers.segmented(
                PAGE, "axis", _("Memory over"), AXES, default="context", labels=axis_label
            )
            case = replace(case, axis=axis)
    return tab, case


def axis_label(axis: Axis) -> str:
    """Return the words on the switch between the two pictures of the memory."""
    words = {"context": _("context"), "sequences": _("sequences")}
    return words[axis]


def show_tab(tab: str, case: ServingCase) -> None:
    """Show the open picture; a device without the numbers that it needs is told instead."""
    try:
        PICTURES[tab](case)
    except ValueError as problem:
        st.error(str(problem))
