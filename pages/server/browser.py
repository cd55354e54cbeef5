"""Which browser asks: a signed name in a cookie that survives a reload, and who is connected.

On that name hangs what a browser may do and has asked for: control given by the PIN, runs of its
own, a place in the line, turns. The cookie ends with the browser, not with a page or a session.
"""

import hashlib
import secrets
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import streamlit as st
from itsdangerous import BadSignature, Signer
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.machine.state import SECRET_BYTES, kept_secret
from pages.server.first_look import asks_for_a_page, is_html

COOKIE: Final = "b2g_browser"
_KEPT_IN: Final = "browser-cookie-secret"
_NAME_BYTES: Final = 16


class Browsers:
    """The names that this server has signed, and the connections of each."""

    def __init__(self, secret: bytes) -> None:
        self._signer = Signer(
            secret, salt=COOKIE, key_derivation="hmac", digest_method=hashlib.sha256
        )
        self._num_connections: Counter[str] = Counter()
        self._lock = threading.Lock()

    def new_cookie(self) -> str:
        return self._signer.sign(secrets.token_urlsafe(_NAME_BYTES)).decode()

    def read(self, cookie: str) -> str:
        """Return the name in a cookie, "" if this server has not signed it."""
        try:
            return self._signer.unsign(cookie).decode()
        except (BadSignature, UnicodeError):
            return ""

    @contextmanager
    def connected(self, name: str) -> Iterator[None]:
        """Count one connection of the browser while the block runs."""
        with self._lock:
            self._num_connections[name] += 1
        try:
            yield
        finally:
            with self._lock:
                self._num_connections[name] -= 1
                self._num_connections += Counter()  # names without a connection are dropped

    def is_connected(self, name: str) -> bool:
        """Say whether the browser has a connection."""
        with self._lock:
            return name in self._num_connections


@st.cache_resource(show_spinner=False)
def browsers() -> Browsers:
    try:
        return Browsers(kept_secret(_KEPT_IN))
    except (ValueError, OSError):
        # No place to keep it: browsers are then known until this server ends.
        return Browsers(secrets.token_bytes(SECRET_BYTES))


def browser() -> str:
    """Return the name of the browser that looks at this page.

    One that keeps no cookies has its session's name; where nobody looks, the name is empty.
    """
    # Without a connection Streamlit has no headers, and no cookies to ask for.
    cookie = st.context.cookies.get(COOKIE, "") if st.context.headers else ""
    session = get_script_run_ctx(suppress_warning=True)
    return browsers().read(cookie) or (session.session_id if session else "")


def is_here(name: str) -> bool:
    """Say whether a browser of that name has a page of this server open."""
    if browsers().is_connected(name):
        return True
    return runtime.exists() and runtime.get_instance().is_active_session(name)


class BrowserCookie:
    """Give every browser its cookie with the first page, and count its websockets; plain ASGI.

    SameSite=Lax, not Strict: a browser that follows a link from elsewhere is still the same one.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; with a page for a browser without a name goes a cookie."""
        name = ""
        if scope["type"] in {"http", "websocket"}:
            name = browsers().read(HTTPConnection(scope).cookies.get(COOKIE, ""))
        if scope["type"] == "websocket" and name:
            with browsers().connected(name):
                await self.app(scope, receive, send)
        elif asks_for_a_page(scope) and not name:
            await self.app(scope, receive, _Naming(scope, send))
        else:
            await self.app(scope, receive, send)


class _Naming:
    """Sends an answer on, an HTML page with a new cookie."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._send = send
        self._secure = "; Secure" if scope["scheme"] == "https" else ""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and is_html(message):
            headers = MutableHeaders(scope=message)
            cookie = f"{COOKIE}={browsers().new_cookie()}; Path=/; HttpOnly; SameSite=Lax"
            headers.append("set-cookie", cookie + self._secure)
            headers["cache-control"] = "private, no-cache"  # one name must not reach two browsers
        await self._send(message)
