"""How the page is read, as far as only the browser can tell: language, theme, projector, links.

Streamlit always writes `<html lang="en">`, has no call that changes the theme, and its links to
another page say nothing of what is chosen for all pages.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import streamlit as st

HTML_LANGUAGES: Final[Mapping[str, str]] = {"en": "en", "zh": "zh-CN"}
KEY: Final = "frame_reader"
_FOLDER: Final = Path(__file__).parent
_mount = st.components.v2.component(
    "reader",
    html="<button type='button' hidden>◐</button>",
    js=(_FOLDER / "reader.js").read_text(encoding="utf-8"),
    css=(_FOLDER / "reader.css").read_text(encoding="utf-8"),
)


def reader(
    *,
    language: str,
    paths: Sequence[str],
    kept: Mapping[str, str],
    words: Mapping[str, str],
    on_present: Callable[[str], None],
) -> None:
    """Mount the part, once a page.

    Args:
        language: "en" or "zh".
        paths: The address of every page, for which a chosen theme holds.
        kept: Settings that a link to another page carries.
        words: What the theme button does: "to_light" and "to_dark".
        on_present: Called with "1" or "0" when a key asks for the projector page or for the end
            of it: P for either, Escape for the end.
    """

    def turn() -> None:
        on_present("1" if st.session_state[KEY].present == "1" else "0")

    _mount(
        key=KEY,
        data=[  # Streamlit loads pandas to look into a dict, but not into a list
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
