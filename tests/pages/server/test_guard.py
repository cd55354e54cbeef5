"""Host check and security headers in front of every route, spoken to as a server would."""

import asyncio
from collections import Counter
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from streamlit import config

from pages.server.guard import SECURITY_HEADERS, Bounds, middleware

FRIEND = "https://friend.example"


async def answer(_request):
    return PlainTextResponse("here", headers={"X-Frame-Options": "DENY"})


async def talk(socket):
    await socket.accept()
    await socket.send_text("here")
    await socket.close()


def messages(host, kind="http", hosts=("localhost", "*.class.example"), path="/x", **headers):
    """Return what the guarded server sends to one request."""
    sent = []
    said = {"host": host, **{name.replace("_", "-"): value for name, value in headers.items()}}

    async def receive():
        return {"type": "http.request" if kind == "http" else "websocket.connect"}

    async def send(message):
        sent.append(message)

    scope = {"type": kind, "path": path, "method": "GET", "query_string": b"", "subprotocols": []}
    scope |= {"headers": [(name.encode(), value.encode()) for name, value in said.items()]}
    scope |= {"scheme": "http", "extensions": {}}
    scope |= {"server": ("127.0.0.1", 1), "client": ("127.0.0.1", 2), "http_version": "1.1"}
    routes = [Route("/x", answer), WebSocketRoute("/x", talk)]
    before = config.get_option
    options = {"server.allowedHosts": list(hosts), "server.corsAllowedOrigins": [FRIEND]}
    config.get_option = options.__getitem__
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


OTHER_ORIGINS = (
    "http://evil.example",
    "http://localhost:9",
    "https://localhost.evil.example",
    "null",
)


@pytest.mark.parametrize("origin", ["http://localhost:8501", "https://localhost:8501", FRIEND])
def test_own_pages_and_named_friends_may_ask(origin):
    assert messages("localhost:8501", origin=origin)[0]["status"] == 200
    assert messages("localhost:8501", "websocket", origin=origin)[0]["type"] == "websocket.accept"


@pytest.mark.parametrize("origin", OTHER_ORIGINS)
def test_pages_of_another_origin_are_refused_also_of_another_port_here(origin):
    start, body = messages("localhost:8501", origin=origin)[:2]
    assert (start["status"], body["body"]) == (403, b"Only this dashboard's own pages may ask.")
    assert messages("localhost:8501", "websocket", origin=origin) == [
        {"type": "websocket.close", "code": 1008}
    ]


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_picture_in_another_site_s_page_is_refused_but_a_link_there_may_lead_here(site):
    assert messages("localhost", sec_fetch_site=site, sec_fetch_mode="no-cors")[0]["status"] == 403
    assert messages("localhost", sec_fetch_site=site, sec_fetch_mode="navigate")[0]["status"] == 200
    own = messages("localhost", sec_fetch_site="same-origin", sec_fetch_mode="cors")
    assert own[0]["status"] == 200


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/_stcore/agent/interact"])
def test_doors_that_nobody_needs_are_shut(path):
    assert messages("localhost", path=path)[0]["status"] == 404


def test_one_address_takes_its_share_of_the_sessions_and_the_rest_is_for_others():
    """300 places: 200 for one address, 90 for others, 10 for whoever sits at the server."""
    begun, refused = [], []

    async def waits(scope, _receive, _send):
        begun.append(scope["client"][0])
        await asyncio.sleep(60)

    async def scene():
        bounds, tasks = Bounds(waits, max_sessions=300), []

        async def come(address, number):
            async def send(message):
                refused.append((address, message["type"]))

            scope = {"type": "websocket", "path": "/x", "headers": [(b"host", b"localhost")]}
            scope["client"] = (address, 1)
            tasks.extend(asyncio.create_task(bounds(scope, None, send)) for _ in range(number))
            await asyncio.sleep(0)

        await come("203.0.113.1", 300)
        await come("203.0.113.2", 300)
        await come("127.0.0.1", 11)
        before = Counter(begun)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        begun.clear()
        await come("203.0.113.1", 1)
        tasks[-1].cancel()
        return before

    let_in = asyncio.run(scene())
    assert let_in == {"203.0.113.1": 200, "203.0.113.2": 90, "127.0.0.1": 10}
    assert begun == ["203.0.113.1"], "a place becomes free again"
    assert Counter(refused) == {
        ("203.0.113.1", "websocket.close"): 100,
        ("203.0.113.2", "websocket.close"): 210,
        ("127.0.0.1", "websocket.close"): 1,
    }


def test_what_the_server_does_at_its_start_and_end_passes_all_of_it():
    happened = []

    @asynccontextmanager
    async def lifespan(_app):
        happened.append("start")
        yield
        happened.append("end")

    with TestClient(Starlette(middleware=middleware(), lifespan=lifespan)):
        assert happened == ["start"]
    assert happened == ["start", "end"]
