"""What the parts that run in the browser share: how one is mounted, and words of its buttons."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from core.language import N_, _

SVG: Final = ("../svg/node.js", "../svg/file.js")  # scripts of a picture that can be saved
FILE_WORDS: Final = {
    "svg": "SVG",
    "svg_label": N_("Save the picture as SVG"),
    "png": "PNG",
    "png_label": N_("Save the picture as PNG"),
}


def browser_part(
    file: str, *scripts: str, html: str = "", head: str = "", isolate_styles: bool = True
) -> ComponentRenderer:
    """Return what mounts a part, whose .js, .css and .html lie beside `file` and bear its name.

    All scripts are one for the browser: each uses the ones before it, the part's own comes last.
    The data goes to it in a list: Streamlit loads pandas to look into a dict, but not into a list.
    """
    own = Path(file)
    style = own.with_suffix(".css")

    def read(name: str) -> str:
        return (own.parent / name).read_text(encoding="utf-8")

    return st.components.v2.component(
        own.stem,
        html=html or read(f"{own.stem}.html"),
        css=read(style.name) if style.is_file() else None,
        js="\n".join([head, *map(read, (*scripts, f"{own.stem}.js"))]),
        isolate_styles=isolate_styles,
    )


def translated(words: Mapping[Any, str]) -> dict[str, str]:
    """Return the words of a part in the reader's language; placeholders stay in braces."""
    return {name: _(text) for name, text in words.items()}
