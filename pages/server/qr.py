"""An address of at most `MAX_CHARS` as a QR code: for the projector and for the terminal."""

import functools
import io
import re
from typing import Final

import segno

MAX_CHARS: Final = 1500  # more modules than a phone can tell apart on a projector
_DARK: Final = re.compile(rb"\x01+")  # in a row of modules


def qr_picture(address: str) -> str:
    """Return the code as the address of a picture: dark on white, with its quiet border."""
    return _code(address).svg_data_uri(dark="#000", light="#fff", border=4, omitsize=True)


@functools.lru_cache(maxsize=64)  # 50 ms for a long one, and every picture of a page asks for it
def qr_path(address: str) -> tuple[str, int]:
    """Return the dark modules as the path of an SVG, and the size with its border."""
    code = _code(address)
    border = 4
    runs = [
        f"M{match.start() + border} {y}h{len(match[0])}v1H{match.start() + border}z"
        for y, row in enumerate(code.matrix, border)
        for match in _DARK.finditer(row)
    ]
    return "".join(runs), len(code.matrix) + 2 * border


def qr_terminal(address: str) -> str:
    """Return the code in half blocks, for a terminal."""
    text = io.StringIO()
    _code(address).terminal(out=text, border=2, compact=True)
    return text.getvalue()


def _code(address: str) -> segno.QRCode:
    if len(address) > MAX_CHARS:
        raise ValueError(f"an address of {len(address)} characters is over {MAX_CHARS}")
    return segno.make_qr(address, error="m", boost_error=False)
