"""How the page is read, as far as only the browser can tell: language, theme, projector, links.

Streamlit always writes `<html lang="en">`, has no call that changes the theme, and its links to
another page say nothing of what is chosen for all pages.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import streamlit as st

from pages.components.part import browser_part

HTML_LANGUAGES: Final[Mapping[str, str]] = {"en": "en", "zh": "zh-CN"}
KEY: Final = "frame_reader"
_mount = browser_part(__file__, html="<button type='button' hidden>◐</button>")


def reader(
    *,
    language: str,
    paths: Sequence[str],
    kept: Mapping[str, str],
    words: Mapping[str, str],
    on_present: Callable[[str], None],
) -> None:
    """Mount the part, once a page.

    A chosen theme holds for all `paths`; a link to another page carries the settings `kept`.
    `words` are what the theme button does, "to_light" and "to_dark". `on_present` is called with
    "1" or "0" when a key asks for the projector page (P) or for the end of it (P, Escape).
    """

    def turn() -> None:
        on_present("1" if st.session_state[KEY].present == "1" else "0")

    _mount(
        key=KEY,
        data=[
            {
                "language": HTML_LANGUAGES[language],
                "paths": list(paths),
                "kept": dict(kept),
                "words": dict(words),
            }
        ],
        width="content",
        height="content",
        on_present_change=turn,
        on_theme_change=_draw_again,
    )


def _draw_again() -> None:
    """The script runs again because of the trigger; charts then take the other colours."""
