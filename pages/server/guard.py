"""What stands before every route: who may ask, for how many, and what the browser may then do."""

from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config

from pages.server.content_policy import content_policy
from pages.server.first_look import FirstLook

SECURITY_HEADERS: Final = {
    "Content-Security-Policy": content_policy(),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
MAX_SESSIONS: Final = 300  # websockets; a class has thirty
# Counts of sessions are nobody's business, and the agent's door stays shut.
_CLOSED_PATHS: Final = ("/_stcore/metrics", "/_stcore/agent")
_OTHER_SITES: Final = ("cross-site", "same-site")


class SecurityHeaders:
    """Add the security headers to every answer; plain ASGI, so that streams stay streams."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and dress the answer."""

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
        """Check the Host, then pass the request on."""
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
        """Check the Origin, then pass the request on."""
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

    def __init__(self, app: ASGIApp, max_sessions: int = MAX_SESSIONS) -> None:
        self.app = app
        self._num_sessions, self._max_sessions = 0, max_sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the session while it lasts, then pass the request on."""
        if str(scope.get("path", "")).startswith(_CLOSED_PATHS):
            await _refuse(scope, receive, send, 404, "Not here.")
        elif scope["type"] != "websocket":
            await self.app(scope, receive, send)
        elif self._num_sessions >= self._max_sessions:
            await _refuse(scope, receive, send, 503, "This server carries no more sessions.")
        else:
            self._num_sessions += 1
            try:
                await self.app(scope, receive, send)
            finally:
                self._num_sessions -= 1


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, sentence: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})  # before accepting: an HTTP 403
    else:
        await PlainTextResponse(sentence, status_code=status)(scope, receive, send)


def middleware() -> list[Middleware]:
    """Return the middleware of the server, outermost first."""
    order = (SecurityHeaders, AllowedHosts, OwnPagesOnly, Bounds, FirstLook)
    return [Middleware(each) for each in order]
