"""Whoever opens a page sees its answer, large, with its picture, and few things beside them."""

import pytest

from tests.browser.first_look import first_look
from tests.browser.test_every_page import PATHS, settle

WITHOUT_PICTURE = {"start/home", "start/lessons"}
LOWEST_TOP = 300
MOST_TABS = 6
MOST_CONTROLS = 5


@pytest.fixture
def opened(new_page, visit):
    """Return opened(key, width, height, lang, **query): a page as it is first seen."""

    def open_page(key, width, height, lang, **query):
        page = visit(new_page(width=width, height=height, lang=lang), PATHS[key], **query)
        settle(page)
        page.wait_for_timeout(300)
        return page

    return open_page


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("key", PATHS)
def test_the_answer_is_the_largest_text_and_its_picture_is_wholly_on_the_first_screen(
    opened, key, lang
):
    page = opened(key, 1366, 768, lang)
    look = first_look(page)
    assert look.headline_lines <= 2
    assert look.largest_other[0] < look.headline_px, look.largest_other
    assert look.num_tabs <= MOST_TABS
    assert look.num_controls <= MOST_CONTROLS
    assert (look.cut, look.two_lines) == ([], [])
    if key not in WITHOUT_PICTURE:
        assert look.picture_top < LOWEST_TOP
        assert look.picture_seen == 1


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("key", PATHS)
def test_nothing_is_cut_on_a_narrow_screen(opened, key, lang):
    look = first_look(opened(key, 1024, 768, lang))
    assert (look.cut, look.two_lines) == ([], [])
    assert look.width <= 1024


@pytest.mark.parametrize(("width", "height"), [(1024, 768), (1280, 720)])
@pytest.mark.parametrize("key", PATHS)
def test_on_a_projector_the_picture_is_wholly_seen_and_no_text_is_small(opened, key, width, height):
    look = first_look(opened(key, width, height, "en", present="1"))
    assert look.smallest[0] >= 22, look.smallest
    assert look.cut == []
    if key not in WITHOUT_PICTURE:
        assert look.picture_seen == 1
