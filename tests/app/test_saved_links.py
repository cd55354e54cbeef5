"""A link that a reader saved while pages had other tabs opens what shows the same idea now."""

from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from pages.server.moved import moved
from pages.shared.lessons import load_lessons
from pages.shared.navigation import PAGES, page_row
from tests.pages.server.test_moved import SAVED

PAGE_OF = {row.address: row.key for row in PAGES}
TODAY = {
    f"/{page_row(each.page).address}?{urlencode(each.query)}".rstrip("?") for each in load_lessons()
}
# Those that are a lesson's address today are opened with the lessons.
OLD = [saved for saved in SAVED if moved(saved["address"]) not in TODAY]


@pytest.mark.parametrize("saved", OLD, ids=[saved["slug"] for saved in OLD])
def test_a_saved_link_opens_without_a_refusal_on_a_page_that_teaches_its_concept(open_page, saved):
    parts = urlsplit(moved(saved["address"]))
    page = PAGE_OF[parts.path.strip("/")]
    query = dict(parse_qsl(parts.query, keep_blank_values=True))

    app = open_page(page, **query)

    assert [each.value for each in app.exception] == []
    assert [each.value for each in app.caption for name in query if f"`{name}`" in each.value] == []
    taught = {concept for each in load_lessons() if each.page == page for concept in each.concepts}
    assert set(saved["concepts"]) <= taught
