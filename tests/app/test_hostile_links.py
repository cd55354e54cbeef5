"""Links that say what no input accepts: every page opens, names it and goes on."""

import pytest

from pages.shared.navigation import PAGES
from pages.shared.settings import DEFAULTS
from tests.app.shown import parameters, tabs_of

INFINITE = "inf"
VALUES = (
    INFINITE,
    "-inf",
    "1e400",
    "nan",
    "9" * 400,
    "1e-999999999",
    "",
    "x" * 3000,
    "１２３",
    "0b101",
    "-1",
    "\x00\u202e`<b>",
)


@pytest.mark.slow
@pytest.mark.parametrize("key", [row.key for row in PAGES])
def test_a_page_opens_whatever_a_link_says_about_all_its_settings(
    open_page, probed, a_run, options, key
):
    """Infinity on every tab, every other value on one of them."""
    name, words = tabs_of(open_page(key), options)
    tabs = [{name: word} for word in words] if name else [{}]
    names = {name for tab in tabs for name in parameters(open_page(key, **tab))} - set(DEFAULTS)
    links = [(INFINITE, tab) for tab in tabs]
    links += [(value, tabs[number % len(tabs)]) for number, value in enumerate(VALUES)]
    for value, tab in links:
        app = open_page(key, **{**dict.fromkeys(names, value), **tab})
        assert [each.message for each in app.exception] == [], (value, tab)
        assert app.title, (value, tab)
        if not value or any(mark.isdigit() for mark in value):
            continue  # some inputs take it, and write it otherwise
        used = parameters(app)
        replaced = {name for name in names - set(tab) if used.get(name, value) != value}
        assert replaced <= set(app.session_state["frame_book"].refusals), (value, tab)


def test_of_a_number_that_is_said_twice_the_last_counts(open_page):
    app = open_page("dtypes/quantization", quant_seed=[INFINITE, "5"])
    assert [each.message for each in app.exception] == []
    assert parameters(app)["quant_seed"] == "5"
