"""The browser of the tests: what one test stores, the next one never meets."""

import pytest


@pytest.mark.parametrize("turn", [1, 2])
def test_a_used_profile_is_empty(page, visit, turn):
    visit(page, "/lessons")
    assert page.evaluate("localStorage.getItem('left')") is None, turn
    assert page.evaluate("document.cookie").find("left=") == -1, turn
    assert page.viewport_size == {"width": 1366, "height": 768}
    page.evaluate("localStorage.setItem('left', '1'), (document.cookie = 'left=1')")
    page.set_viewport_size({"width": 800, "height": 600})


def test_two_pages_of_one_test_share_nothing(new_page, visit):
    one, two = visit(new_page(), "/lessons"), visit(new_page(), "/lessons")
    one.evaluate("localStorage.setItem('left', '1')")
    assert two.evaluate("localStorage.getItem('left')") is None
