"""Saved links lead to what they showed: Home's old cards, and every lesson that once was."""

import json
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from pages.server.moved import Move, MovedLinks, load_moves, moved
from pages.shared.lessons import load_lessons
from pages.shared.navigation import PAGES, page_row

PAGE = {"accept": "text/html,*/*;q=0.8"}
# The lessons as they stood before pages and tabs were merged: slug, address, concepts.
SAVED = json.loads(Path(__file__).with_name("saved_lessons.json").read_text(encoding="utf-8"))


async def told(request):
    return PlainTextResponse(str(request.url))


@pytest.fixture
def client():
    routes = [Route(path, told) for path in ("/", *(f"/{row.address}" for row in PAGES))]
    app = Starlette(routes=routes, middleware=[Middleware(MovedLinks)])
    return TestClient(app, follow_redirects=False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/?home_card=stack", "/machine?machine_tab=stack"),
        ("/home?home_card=environment&units=GB", "/machine?machine_tab=machine&units=GB"),
        ("/?home_card=stack&home_system=linux&lock=1", "/machine?machine_tab=stack&lock=1"),
        (
            "/?home_card=closed&home_system=linux&home_build=cpu&home_search=a+%26+b&lang=zh",
            "/?home_search=a+%26+b&lang=zh",
        ),
        ("/?home_card=closed", "/"),
        ("/?home_card=%3Cb%3E", "/"),
        ("/what-fits?fits_format=int8", "/what-fits?fits_tab=map&fits_format=int8"),
    ],
)
def test_an_old_link_leads_on_with_all_that_it_says(client, old, new):
    answer = client.get(old, headers=PAGE)

    assert answer.status_code == 307
    assert answer.headers["location"] == new
    assert client.get(new, headers=PAGE).status_code == 200


@pytest.mark.parametrize(
    "address", ["/", "/?home_search=view", "/lessons?home_card=stack", "/what-fits?plan_model=gpt2"]
)
def test_every_other_address_passes_as_it_is(client, address):
    answer = client.get(address, headers=PAGE)
    assert (answer.status_code, answer.text) == (200, f"http://testserver{address}")


def test_what_is_no_page_passes_as_it_is(client):
    assert client.get("/?home_card=stack", headers={"accept": "*/*"}).status_code == 200


def test_a_move_renames_values_and_hidden_settings_and_drops_what_another_page_does_not_know():
    move = Move(
        page="serving", when={"serving_tab": "old", "serving_x": ""}, to="what-fits",
        set={"fits_tab": "map"}, names={"serving_model": "plan_model"},
        values={"plan_model": {"7b": "llama-2-7b"}},
    )  # fmt: skip
    query = [("serving_tab", "old"), ("serving_model", "7b"), ("lang", "zh"), ("serving_y", "1")]

    assert move.is_about("serving", query)
    assert not move.is_about("serving", [*query, ("serving_x", "1")])
    assert not move.is_about("serving", [("lang", "zh")])
    assert move.applied([*query, ("hide", "serving_model,title")]) == [
        ("fits_tab", "map"), ("plan_model", "llama-2-7b"), ("lang", "zh"),
        ("hide", "plan_model,title"),
    ]  # fmt: skip


def test_every_saved_lesson_leads_to_a_page_and_to_an_address_that_moves_no_further():
    addresses = {row.address for row in PAGES}
    for saved in SAVED:
        new = moved(saved["address"])
        assert urlsplit(new).path.strip("/") in addresses, saved
        assert moved(new) == new, saved
    assert all(row.when or row.any for row in load_moves())


def test_every_lesson_of_today_stands_where_its_address_says():
    for lesson in load_lessons():
        address = f"/{page_row(lesson.page).address}?{urlencode(lesson.query)}"
        assert moved(address) == address, lesson.slug


def test_every_concept_that_had_a_lesson_has_one():
    had = {concept for saved in SAVED for concept in saved["concepts"]}
    assert had - {concept for lesson in load_lessons() for concept in lesson.concepts} == set()
