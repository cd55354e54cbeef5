"""The keys that work on every page, and the list of them that `?` opens."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import streamlit as st

from core.language import _

_FOLDER: Final = Path(__file__).parent
_mount = st.components.v2.component(
    "key_map",
    html="<button type='button' hidden>?</button><dialog><h2></h2><dl></dl><form method='dialog'>"
    "<button></button></form></dialog>",
    js=(_FOLDER / "key_map.js").read_text(encoding="utf-8"),
    css=(_FOLDER / "key_map.css").read_text(encoding="utf-8"),
)


def key_map(*, has_list: bool, on_list_wanted: Callable[[], None]) -> None:
    """Mount the keys, once a page; `reader` handles P and Escape, this part the others.

    Args:
        has_list: Whether the list of lessons is on the page.
        on_list_wanted: Called when the pointer is at its button, or a key wants it, and it is not.
    """
    keys = [
        {"keys": "?", "does": _("open or close this list")},
        {"keys": "1 - 9", "does": _("open a lesson of this page")},
        {"keys": "N", "does": _("open the next lesson")},
        {"keys": "P", "does": _("large text for a projector, on and off")},
        {"keys": "Esc", "does": _("leave the projector view")},
        {"keys": "Tab, Space", "does": _("reach and press any control")},
    ]
    words = {"title": _("Keys"), "close": _("Close"), "open": _("Show the keys of this page")}
    # Streamlit loads pandas to look into a dict, but not into a list.
    data = [{"keys": keys, "words": words, "has_list": has_list}]
    _mount(key="key_map", data=data, width="content", on_list_wanted_change=on_list_wanted)
