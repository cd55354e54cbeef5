"""A menu that saves a drawn picture as a poster: PNG or SVG.

Plotly's own export knows nothing of the page around a chart, and Streamlit keeps Plotly to itself.
So the part copies what is seen, drawn by Plotly or by a part of our own that marks it with
`data-poster`, and puts what Python says around it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import streamlit as st

from core.language import _

_FOLDER: Final = Path(__file__).parent
# One script for the browser: each part uses the ones before it.
_SCRIPTS: Final = ("../svg/node.js", "../svg/file.js", "seen.js", "fonts.js", "poster.js")
_mount = st.components.v2.component(
    "poster",
    html='<details hidden><summary data-kind="save"></summary>'
    '<button type="button" data-kind="png"></button>'
    '<button type="button" data-kind="svg"></button></details>'
    '<span role="status" aria-live="polite"></span>',
    js="\n".join((_FOLDER / name).read_text(encoding="utf-8") for name in _SCRIPTS),
    css=(_FOLDER / "poster.css").read_text(encoding="utf-8"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Poster:
    """What stands around a picture.

    Attributes:
        chart: The key of the drawn chart, or of the part that has drawn the picture.
        file_name: Name of the downloads, without "-poster" and an ending.
        title: Of the page.
        headline: The sentence that answers its question; "" while that waits.
        numbers: Label and value, at most five.
        link: The address of this very picture, or a sentence why there is none.
        code: Its QR code as "path" and "size" in modules, border and all; None if there is none.
        code_waits: Whether there is one, to be made when a poster is asked for.
        colors: Of background, text and what is less important.
        fonts: Families for "text" and "code".
        small: Whether the menu looks as the buttons of our own parts do.
    """

    chart: str
    file_name: str
    title: str
    headline: str
    numbers: Sequence[tuple[str, str]]
    link: str
    code: Mapping[str, str | int] | None
    code_waits: bool
    colors: Mapping[str, str]
    fonts: Mapping[str, str]
    small: bool


def is_asked_for(chart: str) -> bool:
    """Return, once, whether a reader has asked for the poster of this picture."""
    return bool(st.session_state.pop(f"{chart}_poster_asked", False))


def poster_menu(poster: Poster) -> None:
    """Show the menu; the script runs again for a poster whose code waits."""
    words = {
        "save": _("Save picture"),
        "png": _("Poster (PNG)"),
        "svg": _("Poster (SVG)"),
        "waiting": _("The picture is not drawn yet."),
    }
    # Streamlit loads pandas to look into a dict, but not into a list.
    data = [{**asdict(poster), "words": words}]
    asked = f"{poster.chart}_poster_asked"
    _mount(
        key=f"{poster.chart}_poster",
        data=data,
        width="content",
        on_asked_change=lambda: st.session_state.update({asked: True}),
    )
