"""Links to the cards that Home had lead to the page that shows them now."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from pages.server.moved import MovedLinks

PAGE = {"accept": "text/html,*/*;q=0.8"}


async def told(request):
    return PlainTextResponse(str(request.url))


@pytest.fixture
def client():
    routes = [Route(path, told) for path in ("/", "/home", "/machine", "/lessons")]
    app = Starlette(routes=routes, middleware=[Middleware(MovedLinks)])
    return TestClient(app, follow_redirects=False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/?home_card=stack", "/machine?machine_tab=stack"),
        ("/home?home_card=environment&units=GB", "/machine?machine_tab=machine&units=GB"),
        (
            "/?lang=zh&home_card=install&home_system=windows&home_build=cuda&present=1&home_search=",
            "/machine?machine_tab=install&machine_system=windows&machine_build=cuda&lang=zh&present=1",
        ),
        # What a copied link says of a card that it does not show.
        ("/?home_card=stack&home_system=linux&lock=1", "/machine?machine_tab=stack&lock=1"),
        (
            "/?home_card=closed&home_system=linux&home_build=cpu&home_search=a+%26+b&lang=zh",
            "/?home_search=a+%26+b&lang=zh",
        ),
        ("/?home_card=closed", "/"),
        ("/?home_card=%3Cb%3E", "/"),
    ],
)
def test_an_old_link_leads_on_with_all_that_it_says(client, old, new):
    answer = client.get(old, headers=PAGE)

    assert answer.status_code == 307
    assert answer.headers["location"] == new
    assert client.get(new, headers=PAGE).status_code == 200


@pytest.mark.parametrize("address", ["/", "/?home_search=view", "/lessons?home_card=stack"])
def test_every_other_address_passes_as_it_is(client, address):
    answer = client.get(address, headers=PAGE)
    assert (answer.status_code, answer.text) == (200, f"http://testserver{address}")


def test_what_is_no_page_passes_as_it_is(client):
    assert client.get("/?home_card=stack", headers={"accept": "*/*"}).status_code == 200
