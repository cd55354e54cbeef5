"""Pages are sent with their style; everything else passes as it is."""

from pathlib import Path

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import HTMLResponse, JSONResponse, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from core.figures.theme import COLORS
from pages.server.first_look import FirstLook, frame_style

PAGE = "<html><head></head><body><div>" + "text " * 500 + "</div></body></html>"
ASKS_FOR_A_PAGE = {"accept": "text/html,*/*;q=0.8", "accept-encoding": "gzip"}


async def page(request):
    known = {"etag": '"old"', "last-modified": "Sat, 21 Nov 2026 16:44:26 GMT"}
    if request.headers.get("if-none-match") == '"old"':
        return HTMLResponse(status_code=304)
    return HTMLResponse(PAGE, headers=known)


async def data(_request):
    return JSONResponse({"text": "<body>" * 200})


async def stream(_request):
    async def parts():
        yield "<html><body>"
        yield "text</body></html>"

    return StreamingResponse(parts(), media_type="text/html")


@pytest.fixture
def client():
    app = Starlette(
        routes=[Route("/", page), Route("/data", data), Route("/stream", stream)],
        middleware=[Middleware(FirstLook), Middleware(GZipMiddleware)],
    )
    return TestClient(app)


def test_a_page_has_its_style_before_its_parts(client):
    answer = client.get("/", headers=ASKS_FOR_A_PAGE)
    assert answer.text == PAGE.replace("<body>", f"<body>{frame_style()}")
    assert int(answer.headers["content-length"]) == len(answer.content)


def test_a_page_without_style_is_not_taken_from_a_cache(client):
    answer = client.get("/", headers={**ASKS_FOR_A_PAGE, "if-none-match": '"old"'})
    assert answer.status_code == 200
    assert not {"etag", "last-modified"} & set(answer.headers)


def test_a_page_that_comes_in_parts_is_whole(client):
    answer = client.get("/stream", headers=ASKS_FOR_A_PAGE)
    assert answer.text == f"<html><body>{frame_style()}text</body></html>"


def test_what_is_no_page_passes_as_it_is(client):
    packed = client.get("/data", headers={"accept": "*/*", "accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert client.get("/data", headers=ASKS_FOR_A_PAGE).json() == packed.json()
    assert client.get("/", headers={"accept": "*/*"}).text == PAGE
    assert client.head("/", headers=ASKS_FOR_A_PAGE).headers["etag"] == '"old"'


def test_the_style_names_every_colour_in_both_themes():
    style = frame_style()
    assert style.startswith("<style>.stApp{--b2g-")
    for light, dark in zip(COLORS["light"].values(), COLORS["dark"].values(), strict=True):
        assert f"light-dark({light},{dark})" in style
    assert style.count("<") == 2


def test_streamlits_own_page_has_the_place_of_the_style():
    index = Path(st.__file__).parent / "static" / "index.html"
    assert index.read_text(encoding="utf-8").count("<body>") == 1
