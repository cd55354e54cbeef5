"""The part of the frame that lives in the browser: `<html lang>`, theme button, leaving projector.

Streamlit always writes `<html lang="en">` and has no call that changes the theme.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import streamlit as st

_FOLDER: Final = Path(__file__).parent
_mount = st.components.v2.component(
    "reader",
    html='<button type="button" hidden></button>',
    js=(_FOLDER / "reader.js").read_text(encoding="utf-8"),
    css=(_FOLDER / "reader.css").read_text(encoding="utf-8"),
)


def reader(
    *, language: str, presenting: bool, words: Mapping[str, str], on_leave: Callable[[], None]
) -> None:
    """Mount the part, once a page.

    Args:
        language: "en" or "zh".
        presenting: Whether the page is on a projector; then Escape calls `on_leave`.
        words: The words of the theme button: "to_light" and "to_dark".
        on_leave: Called when the reader presses Escape on a projector page.
    """
    _mount(
        key="frame_reader",
        data={
            "language": {"en": "en", "zh": "zh-CN"}[language],
            "presenting": presenting,
            "words": dict(words),
        },
        width="content",
        height="content",
        on_leave_change=on_leave,
    )
