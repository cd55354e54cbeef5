"""Pages are sent with the frame's style: none stands there undressed while scripts still load.

Streamlit shows `st.html` when all parts of a page have loaded. On a page with a chart that is more
than a second after its first words, and everything would jump.
"""

from pathlib import Path
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.figures.theme import css_variables

_FRAME: Final = Path(__file__).parents[1] / "shared" / "frame.css"
# Style sheets of Streamlit come before it, in the head; those of single pages after it.
_PLACE: Final = b"<body>"
# A page without style must not be taken from a cache, nor arrive packed.
_KEPT_BACK: Final = {b"accept-encoding", b"if-none-match", b"if-modified-since", b"range"}


def frame_style() -> str:
    """Return the style element of every page: colours by meaning, then the frame."""
    return f"<style>.stApp{{{css_variables()}}}{_FRAME.read_text(encoding='utf-8')}</style>"


class FirstLook:
    """Put the frame's style into pages; plain ASGI, so that all else passes as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; dress the answer where a page was asked for."""
        if not asks_for_a_page(scope):
            await self.app(scope, receive, send)
            return
        headers = [pair for pair in scope["headers"] if pair[0] not in _KEPT_BACK]
        await self.app({**scope, "headers": headers}, receive, _Dressing(send))


class _Dressing:
    """Sends an answer on, an HTML page whole and with its style."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message = {}
        self._parts: list[bytes] = []

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and is_html(message):
            self._start = message
        elif not self._start or message["type"] != "http.response.body":
            await self._send(message)
        else:
            self._parts.append(message.get("body", b""))
            if not message.get("more_body", False):
                await self._send_page()

    async def _send_page(self) -> None:
        style = _PLACE + frame_style().encode()
        page = b"".join(self._parts).replace(_PLACE, style, 1)
        headers = MutableHeaders(scope=self._start)
        headers["content-length"] = str(len(page))
        for name in ("etag", "last-modified", "accept-ranges"):  # those of the page as it was
            del headers[name]
        await self._send(self._start)
        await self._send({"type": "http.response.body", "body": page})


def asks_for_a_page(scope: Scope) -> bool:
    """Say whether a browser asks for a page, not for a part of one."""
    return (
        scope["type"] == "http"
        and scope["method"] == "GET"
        and "text/html" in Headers(scope=scope).get("accept", "")
    )


def is_html(message: Message) -> bool:
    """Say whether an answer that starts is a page."""
    return Headers(raw=message["headers"]).get("content-type", "").startswith("text/html")
