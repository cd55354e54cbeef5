"""A browser's signed name: given with a page, the same after a reload, and nobody's when edited."""

import asyncio
from http.cookies import SimpleCookie

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient

from core.machine import state_directory
from pages.server import browser as browser_room
from pages.server.browser import COOKIE, BrowserCookie, Browsers, browser, browsers, is_here

PAGE = {"accept": "text/html"}


@pytest.fixture(autouse=True)
def own_secret():
    """Let every test begin with the secret of its own state folder."""
    browsers.clear()
    yield
    browsers.clear()


async def page(_request):
    return HTMLResponse("<body></body>", headers={"cache-control": "public"})


async def data(_request):
    return PlainTextResponse("text")


async def talk(socket):
    await socket.accept()
    await socket.receive_text()
    await socket.close()


def app():
    routes = [Route("/", page), Route("/data", data), WebSocketRoute("/stream", talk)]
    return Starlette(routes=routes, middleware=[Middleware(BrowserCookie)])


@pytest.fixture
def client():
    return TestClient(app())


def given(answer):
    """Return the cookie that an answer sets."""
    return SimpleCookie(answer.headers.get("set-cookie", "")).get(COOKIE)


def test_a_page_brings_a_cookie_that_no_script_reads_and_no_other_site_sends(client):
    answer = client.get("/", headers=PAGE)
    cookie = given(answer)
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/")
    assert (cookie["secure"], cookie["max-age"]) == ("", ""), "plain http; until the browser ends"
    assert answer.headers["cache-control"] == "private, no-cache"
    assert len(browsers().read(cookie.value)) >= 22


def test_over_https_the_cookie_is_secure():
    answer = TestClient(app(), base_url="https://class.example").get("/", headers=PAGE)
    assert given(answer)["secure"] is True


def test_a_reload_keeps_the_cookie_and_another_browser_has_another(client):
    name = given(client.get("/", headers=PAGE)).value
    assert given(client.get("/", headers=PAGE)) is None
    assert client.cookies[COOKIE] == name
    assert given(TestClient(app()).get("/", headers=PAGE)).value != name


@pytest.mark.parametrize(
    "path_and_headers", [("/data", PAGE), ("/data", {}), ("/", {"accept": "*/*"})]
)
def test_what_is_no_page_brings_none(client, path_and_headers):
    path, headers = path_and_headers
    assert given(client.get(path, headers=headers)) is None


def forgeries():
    cookie = browsers().new_cookie()
    name, signature = cookie.rsplit(".", 1)
    return [
        "",
        name,
        f"{name}.",
        f"x{name}.{signature}",
        f"{name}.{signature[:-2]}",
        Browsers(b"another secret").new_cookie(),
        "\udcff.é",
    ]


def test_an_edited_cookie_counts_as_none_and_is_replaced():
    for forged in forgeries():
        assert browsers().read(forged) == "", forged
    client = TestClient(app())
    client.cookies.set(COOKIE, forgeries()[3])
    assert browsers().read(given(client.get("/", headers=PAGE)).value)


def test_a_browser_keeps_its_name_when_the_server_starts_again():
    cookie = browsers().new_cookie()
    name = browsers().read(cookie)
    browsers.clear()
    assert browsers().read(cookie) == name != ""


def test_without_a_place_for_the_secret_browsers_are_known_until_the_server_ends(monkeypatch):
    state_directory().rmdir()
    state_directory().parent.joinpath("a-file").write_text("in the way")
    monkeypatch.setenv("B2G_STATE_DIR", str(state_directory().parent / "a-file"))
    cookie = browsers().new_cookie()
    assert browsers().read(cookie)
    browsers.clear()
    assert browsers().read(cookie) == ""


def test_a_browser_is_here_as_long_as_one_of_its_websockets_is_open(client):
    client.get("/", headers=PAGE)
    name = browsers().read(client.cookies[COOKIE])
    assert not is_here(name)
    with client.websocket_connect("/stream") as first:
        with client.websocket_connect("/stream") as second:
            assert is_here(name)
            second.send_text("bye")
        assert is_here(name)
        assert not is_here(f"{name}x")
        first.send_text("bye")
    assert not is_here(name)
    assert not browsers()._num_connections, "nothing is kept of who has gone"


def test_a_websocket_that_breaks_is_counted_out():
    async def breaks(_scope, _receive, _send):
        assert is_here(name)
        raise ConnectionError("the laptop was shut")

    cookie = browsers().new_cookie()
    name = browsers().read(cookie)
    scope = {"type": "websocket", "headers": [(b"cookie", f"{COOKIE}={cookie}".encode())]}
    with pytest.raises(ConnectionError, match="shut"):
        asyncio.run(BrowserCookie(breaks)(scope, None, None))
    assert not is_here(name)


class Looks:
    """Stands in for `st.context` of one connection."""

    def __init__(self, headers, cookies):
        self.headers, self.cookies = headers, cookies


@pytest.mark.parametrize("is_signed", [True, False])
def test_the_page_reads_the_name_from_its_connection(monkeypatch, is_signed):
    cookie = browsers().new_cookie() if is_signed else "made.up"
    session = type("Session", (), {"session_id": "a session"})()
    monkeypatch.setattr(browser_room, "get_script_run_ctx", lambda **_: session)
    monkeypatch.setattr(browser_room.st, "context", Looks({"Host": "x"}, {COOKIE: cookie}))
    assert browser() == (browsers().read(cookie) if is_signed else "a session")


def test_a_browser_without_cookies_is_here_as_long_as_its_session(monkeypatch):
    class Runtime:
        def exists(self):
            return True

        def get_instance(self):
            return self

        def is_active_session(self, session):
            return session == "a session"

    monkeypatch.setattr(browser_room, "runtime", Runtime())
    assert (is_here("a session"), is_here("another")) == (True, False)


def test_where_nobody_looks_there_is_no_name():
    assert browser() == ""
