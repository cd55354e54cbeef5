"""The bit grid: a number to click, in any format; its arithmetic is the browser's own codec."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import streamlit as st

from core.dtypes import CodebookFormat, FloatFormat, Format, IntFormat
from core.dtypes.number_formats.float_format import RULES
from pages.components.bit_grid.words import grid_words
from pages.shared.settings import locked, presenting

_FOLDER: Final = Path(__file__).parent
# One script for the browser: each part uses the ones before it.
_SCRIPTS: Final = ("codec", "exact", "explain", "view", "code_map", "bit_grid")


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


_mount = st.components.v2.component(
    "bit_grid",
    html=_read("bit_grid.html"),
    css=_read("bit_grid.css"),
    js="\n".join(_read(f"{name}.js") for name in _SCRIPTS),
)


def format_row(fmt: Format) -> Mapping[str, Any]:
    """Return what codec.js needs to know about a format; every number is exact as a float64."""
    row: dict[str, Any] = {"name": fmt.name, "bits": fmt.bits}
    if isinstance(fmt, FloatFormat):
        return row | {"kind": "float"} | {name: getattr(fmt, name) for name in RULES}
    if isinstance(fmt, IntFormat):
        return row | {"kind": "int", "signed": fmt.signed, "fraction_bits": fmt.fraction_bits}
    assert isinstance(fmt, CodebookFormat)  # noqa: S101  there are three kinds
    return row | {"kind": "codebook", "signed": False, "values": list(fmt.values)}


def hex_code(fmt: Format, code: int) -> str:
    """Return a code as the address and the browser write it.

    >>> from core.dtypes import FORMATS
    >>> hex_code(FORMATS["float16"], 0x3C00)
    '0x3C00'
    """
    return f"0x{code:0{-(-fmt.bits // 4)}X}"


def bit_grid(
    fmt: Format,
    code: int,
    key: str,
    on_code: Callable[[str], None],
    *,
    is_compact: bool = False,
    show_map: bool = False,
) -> None:
    """Show a number as bits to click.

    Args:
        fmt: The format, named or designed.
        code: The code to show; the browser keeps its own newer one until this changes.
        key: The key of this part on its page.
        on_code: Called with the code in hexadecimal after the reader has chosen one.
        is_compact: Leave the details out.
        show_map: All codes below the bits, for formats of at most 16 bits.
    """
    data: dict[str, Any] = {
        "format": format_row(fmt),
        "code": hex_code(fmt, code),
        "words": grid_words(),
        "size": "compact" if is_compact else "full",
        "map": show_map,
        "locked": locked(),
        "present": presenting(),
    }
    # Streamlit loads pandas to look into a dict, but not into a list.
    _mount(
        key=key,
        data=[data],
        height="content",
        on_code_change=lambda: on_code(str(st.session_state[key]["code"])),
    )
