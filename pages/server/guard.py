"""What stands before every route: who may ask, for how many, and what the browser may then do."""

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config

from pages.server.browser import BrowserCookie
from pages.server.control_right import visitor
from pages.server.descriptors import carried
from pages.server.first_look import FirstLook
from pages.server.moved import MovedLinks
from pages.server.shares import Shares, ShareSpentError
from pages.server.uploads import UploadBounds

_INLINE_SCRIPT: Final = re.compile(r"<script>(.*?)</script>", re.DOTALL)
# What a page may load, run and draw: what Streamlit 1.67, Plotly and our own components need, found
# by leaving out and reading the browser's console. Nothing needs 'unsafe-eval': Vega and Graphviz
# would, and no page uses them.
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
    """Return the Content-Security-Policy, Streamlit's own inline scripts named by their hash."""
    index = Path(st.__file__).parent / "static" / "index.html"
    inline = " ".join(inline_hashes(index.read_text(encoding="utf-8")))
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


SECURITY_HEADERS: Final = {
    "Content-Security-Policy": content_policy(),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
SESSIONS_OF_BROWSER: Final = 16  # pages that one browser has open
FOR_TEACHERS: Final = 10
# Counts of sessions are nobody's business, and the agent's door stays shut.
_CLOSED_PATHS: Final = ("/_stcore/metrics", "/_stcore/agent")
_OTHER_SITES: Final = ("cross-site", "same-site")


class SecurityHeaders:
    """Add the security headers to every answer; plain ASGI, so that streams stay streams."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_dressed)


class AllowedHosts:
    """Refuse requests whose Host is not in `server.allowedHosts` (DNS rebinding).

    Streamlit checks its websocket only. The option is read when the server builds its stack,
    because a command line may still change it after this module was imported.
    """

    def __init__(self, app: ASGIApp) -> None:
        hosts = [host.strip() for host in config.get_option("server.allowedHosts")]
        self.app = TrustedHostMiddleware(app, allowed_hosts=hosts or ["*"], www_redirect=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)


class OwnPagesOnly:
    """Refuse what a page of another origin asks for, websockets included.

    Streamlit lets pages of any port of localhost in, and asks a server on the internet for this
    machine's address before it refuses a stranger. `server.corsAllowedOrigins` names exceptions.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._allowed = frozenset(config.get_option("server.corsAllowedOrigins"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._is_ours(Headers(scope=scope)):
            await self.app(scope, receive, send)
        else:
            await _refuse(scope, receive, send, 403, "Only this dashboard's own pages may ask.")

    def _is_ours(self, headers: Headers) -> bool:
        origin = headers.get("origin")
        if origin is not None:
            return origin in self._allowed or urlsplit(origin).netloc == headers.get("host")
        # Pictures and scripts that another site puts into its page say no Origin.
        is_visit = headers.get("sec-fetch-mode", "navigate") == "navigate"
        return is_visit or headers.get("sec-fetch-site") not in _OTHER_SITES


class Bounds:
    """Shut the doors that nobody needs, and let in no more sessions than the server can carry."""

    def __init__(self, app: ASGIApp, max_sessions: int | None = None) -> None:
        self.app = app
        total = max_sessions or carried()
        self._sessions = Shares(total, of_browser=SESSIONS_OF_BROWSER, reserve=FOR_TEACHERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Note who asks, count a session while it lasts, and pass the request on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["path"].startswith(_CLOSED_PATHS):
            await _refuse(scope, receive, send, 404, "Not here.")
            return
        connection = HTTPConnection(scope)
        host = connection.client.host if connection.client else ""
        who = visitor(host, connection.headers, connection.cookies)
        scope = {**scope, "visitor": who}
        if scope["type"] == "http":
            await self.app(scope, receive, send)
            return
        try:
            self._sessions.check(who)
        except ShareSpentError as error:
            await _refuse(scope, receive, send, 503, str(error))
            return
        with self._sessions.held(who):
            await self.app(scope, receive, send)


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, sentence: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})  # before accepting: an HTTP 403
    else:
        await PlainTextResponse(sentence, status_code=status)(scope, receive, send)


def middleware() -> list[Middleware]:
    order = (SecurityHeaders, AllowedHosts, OwnPagesOnly, Bounds, UploadBounds, MovedLinks)
    return [Middleware(each) for each in (*order, BrowserCookie, FirstLook)]
