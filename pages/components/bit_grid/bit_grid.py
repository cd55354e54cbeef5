"""The bit grid: a number to click, in any format; its arithmetic is the browser's own codec."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from core.dtypes import CodebookFormat, FloatFormat, Format, IntFormat
from core.dtypes.number_formats.float_format import RULES
from pages.components.bit_grid.words import WORDS
from pages.components.part import browser_part, translated
from pages.shared.settings import locked, presenting

_mount = browser_part(__file__, "codec.js", "exact.js", "explain.js", "view.js", "code_map.js")


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
    """Show a number as bits to click; a compact one without details.

    The browser keeps its own newer code until this one changes. `on_code` is called with the code
    in hexadecimal. The map shows all codes below the bits, for formats of at most 16 bits.
    """
    data: dict[str, Any] = {
        "format": format_row(fmt),
        "code": hex_code(fmt, code),
        "words": translated(WORDS),
        "size": "compact" if is_compact else "full",
        "map": show_map,
        "locked": locked(),
        "present": presenting(),
    }
    _mount(
        key=key,
        data=[data],
        height="content",
        on_code_change=lambda: on_code(str(st.session_state[key]["code"])),
    )
