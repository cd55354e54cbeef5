"""What stands before every route: the Host check and the headers that keep other sites out."""

from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config

SECURITY_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "no-referrer",
}


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


def middleware() -> list[Middleware]:
    """Return the middleware of the server, outermost first."""
    return [Middleware(SecurityHeaders), Middleware(AllowedHosts)]
