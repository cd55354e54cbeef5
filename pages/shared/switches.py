"""The frame around a page: the product's name, switches for language, unit, theme."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import streamlit as st

from core.language import LANGUAGES, _
from core.units import BYTE_UNITS
from pages.components.reader.reader import reader
from pages.server import join
from pages.shared import page_links, settings
from pages.shared.navigation import PAGES

_FOLDER: Final = Path(__file__).parent
ICON: Final = _FOLDER / "icon.svg"


def dress() -> None:
    """Put the name of the product on the page, and a projector's style sheet.

    The frame's own style comes with the page: `pages.server.first_look`.
    """
    st.logo(_FOLDER / f"wordmark.{settings.language()}.svg", size="large")
    # One element either way: what is not drawn again leaves the page with the end of a run, and a
    # run that measures the machine takes seconds.
    st.html(_FOLDER / "present.css" if settings.presenting() else "<style></style>")


def show() -> None:
    """Show the switches at the right of the menu and tell the browser how the page is read."""
    with st.container(key="frame_switches", horizontal=True, vertical_alignment="center"):
        join.show()
        _switch("lang", _("Language"), LANGUAGES)
        with st.popover(_("View"), icon=":material/visibility:", type="tertiary"):
            _switch("units", _("Memory in"), {unit: unit for unit in BYTE_UNITS})
            _switch("present", _("Projector"), {"0": _("Off"), "1": _("On")})
        reader(
            language=settings.language(),
            paths=["/", *(f"/{row.address}" for row in PAGES)],
            kept=page_links.kept(),
            words={"to_light": _("Light theme"), "to_dark": _("Dark theme")},
            on_present=_turn_projector,
        )


def _turn_projector(present: str) -> None:
    """Put the page on a projector ("1"), or bring the menu back ("0")."""
    st.session_state["present"] = present


def _switch(name: str, label: str, choices: Mapping[str, str]) -> None:
    """Show one switch; a click writes the word of the address, never the translated label."""
    key = f"{name}_choice"
    st.session_state[key] = settings.setting(name)

    def write() -> None:
        st.session_state[name] = st.session_state[key]

    st.segmented_control(
        label,
        list(choices),
        format_func=choices.__getitem__,
        key=key,
        on_change=write,
        required=True,
        label_visibility="collapsed" if name == "lang" else "visible",
    )
