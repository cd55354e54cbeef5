"""A menu that saves a drawn picture as a poster: PNG or SVG.

Plotly's own export knows nothing of the page around a chart, and Streamlit keeps Plotly to itself.
So the part copies what is seen, drawn by Plotly or by a part of our own that marks it with
`data-poster`, and puts what Python says around it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import streamlit as st

from core.language import _
from pages.components.part import SVG, browser_part

_mount = browser_part(
    __file__,
    *SVG,
    "seen.js",
    "fonts.js",
    html='<details hidden><summary data-kind="save"></summary>'
    '<button type="button" data-kind="png"></button>'
    '<button type="button" data-kind="svg"></button></details>'
    '<span role="status" aria-live="polite"></span>',
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Poster:
    """What stands around a picture."""

    chart: str  # the key of the drawn chart, or of the part that has drawn the picture
    file_name: str  # of the downloads, without "-poster" and an ending
    title: str  # of the page
    headline: str  # the sentence that answers its question; "" while that waits
    numbers: Sequence[tuple[str, str]]  # label and value, at most five
    link: str  # the address of this very picture, or a sentence why there is none
    code: Mapping[str, str | int] | None  # its QR code: "path" and, with the border, "size"
    code_waits: bool  # whether there is one, to be made when a poster is asked for
    colors: Mapping[str, str]  # of background, text and what is less important
    fonts: Mapping[str, str]  # families for "text" and "code"
    small: bool  # whether the menu looks as the buttons of our own parts do


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
    data = [{**asdict(poster), "words": words}]
    asked = f"{poster.chart}_poster_asked"
    _mount(
        key=f"{poster.chart}_poster",
        data=data,
        width="content",
        on_asked_change=lambda: st.session_state.update({asked: True}),
    )
