"""Host check and security headers in front of every route, spoken to as a server would."""

import asyncio

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from streamlit import config

from pages.shared.guard import SECURITY_HEADERS, middleware


async def answer(_request):
    return PlainTextResponse("here", headers={"X-Frame-Options": "DENY"})


async def talk(socket):
    await socket.accept()
    await socket.send_text("here")
    await socket.close()


def messages(host, kind="http", hosts=("localhost", "*.class.example")):
    """Return what the guarded server sends to one request."""
    sent = []

    async def receive():
        return {"type": "http.request" if kind == "http" else "websocket.connect"}

    async def send(message):
        sent.append(message)

    scope = {"type": kind, "path": "/x", "method": "GET", "query_string": b"", "subprotocols": []}
    scope |= {"headers": [(b"host", host.encode())], "scheme": "http", "extensions": {}}
    scope |= {"server": ("127.0.0.1", 1), "client": ("127.0.0.1", 2), "http_version": "1.1"}
    routes = [Route("/x", answer), WebSocketRoute("/x", talk)]
    before = config.get_option
    config.get_option = {"server.allowedHosts": list(hosts)}.__getitem__
    try:
        server = Starlette(routes=routes, middleware=middleware())
        asyncio.run(server(scope, receive, send))
    finally:
        config.get_option = before
    return sent


def headers(message):
    return {name.decode(): value.decode() for name, value in message["headers"]}


@pytest.mark.parametrize("host", ["localhost", "localhost:8501", "room1.class.example"])
def test_an_allowed_host_is_answered_with_the_headers(host):
    start, body = messages(host)[:2]
    assert (start["status"], body["body"]) == (200, b"here")
    for name in set(SECURITY_HEADERS) - {"X-Frame-Options"}:
        assert headers(start)[name.lower()] == SECURITY_HEADERS[name]
    assert headers(start)["x-frame-options"] == "DENY", "a route may be stricter"


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", ""])
def test_another_host_is_refused_with_the_headers(host):
    start, body = messages(host)[:2]
    assert (start["status"], body["body"]) == (400, b"Invalid host header")
    assert headers(start)["x-frame-options"] == "SAMEORIGIN"


def test_a_websocket_is_checked_too():
    assert messages("localhost", "websocket")[1] == {"type": "websocket.send", "text": "here"}
    refused = messages("evil.example", "websocket")
    assert not any(message["type"] == "websocket.accept" for message in refused)


def test_without_a_list_every_host_is_answered():
    assert messages("any.example", hosts=())[0]["status"] == 200
