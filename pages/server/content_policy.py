"""The Content-Security-Policy: what a page of this server may load, run and draw.

What Streamlit 1.67, Plotly 4 and our own components need, found by leaving out and reading the
browser's console. Nothing needs 'unsafe-eval': Vega and Graphviz would, and no page uses them.
"""

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import streamlit as st

_INLINE_SCRIPT: Final = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_SOURCES: Final = {
    "default-src": "'self'",
    "script-src": "'self' blob: {inline}",  # blob: parts of version 2, whose source is a text
    "style-src": "'self' 'unsafe-inline'",  # style elements of Streamlit (emotion) and of Plotly
    "img-src": "'self' data: blob:",  # icons written into styles; Plotly's picture of a chart
    "font-src": "'self' data:",  # the marks inside formulas
    "connect-src": "'self' data: blob:",  # the websocket, the live stream, Plotly's PNG
    "media-src": "'self' blob:",
    "worker-src": "'self' blob:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'self'",
}


def content_policy() -> str:
    """Return the value of the header; Streamlit's own inline scripts are named by their hash."""
    inline = " ".join(inline_hashes(_index_html()))
    return "; ".join(
        f"{name} {sources}".format(inline=inline) for name, sources in _SOURCES.items()
    )


def inline_hashes(html: str) -> Iterator[str]:
    """Yield the hash of each inline script, as the header wants it.

    >>> list(inline_hashes("<script>alert(1)</script>"))
    ["'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"]
    """
    for script in _INLINE_SCRIPT.findall(html):
        digest = hashlib.sha256(script.encode()).digest()
        yield f"'sha256-{base64.b64encode(digest).decode()}'"


def _index_html() -> str:
    return (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
