"""Two settings side by side in a browser: B's slider is dragged, the link opens again."""

import urllib.parse

import pytest

from tests.browser.first_look import first_look
from tests.browser.seen import drawn, headline, until_headline
from tests.browser.test_live_slider import HEADLINES, IDLE, MIDDLE, THUMB, TRACK

# Address, its short name, a slider of B's.
SLIDERS = (
    ("/training-memory", "memory", "Sequence length"),
    ("/serving", "serving", "Context length (tokens)"),
)
PAGES = (("/model-sizes", "sizes"), ("/flops-and-time", "flops"), *(row[:2] for row in SLIDERS))


@pytest.mark.parametrize(("path", "name", "slider"), SLIDERS)
def test_a_slider_of_b_redraws_while_it_is_dragged_and_a_stays(page, visit, path, name, slider):
    visit(page, path)
    drawn(page)
    page.get_by_role("button", name="Compare with").click()
    until_headline(page, "the same memory")
    page.until(IDLE)
    page.evaluate(HEADLINES)
    found = page.get_by_role("slider", name=slider).first
    thumb, track = found.evaluate(MIDDLE, THUMB), found.evaluate(MIDDLE, TRACK)
    page.mouse.move(thumb["x"], thumb["y"])
    page.mouse.down()
    for share in (0.35, 0.7):
        page.mouse.move(track["left"] + share * track["width"], thumb["y"], steps=5)
        page.wait_for_timeout(500)
    page.until("window.headlines.size >= 2")  # the button is still down
    page.mouse.up()
    for _each in range(2):  # what the hand has left behind is drawn, and what follows from it
        page.wait_for_timeout(1000)
        page.until(IDLE)
    assert headline(page).startswith("B ")
    query = urllib.parse.parse_qs(urllib.parse.urlparse(page.url).query)
    assert query[f"{name}_a"] == ["plan_model=llama-3.1-8b"]

    said, bars = headline(page), page.evaluate("document.querySelectorAll('.bars .point').length")
    page.reload()
    until_headline(page, said)
    drawn(page)
    assert page.evaluate("document.querySelectorAll('.bars .point').length") == bars > 2


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("path", "name"), PAGES)
def test_the_first_look_holds_while_two_settings_are_compared(page, visit, path, name, language):
    for width, height in ((1366, 768), (1024, 768)):
        page.set_viewport_size({"width": width, "height": height})
        visit(page, path, lang=language, **{f"{name}_a": "default"})
        drawn(page)
        page.until(IDLE)
        look = first_look(page)
        assert look.picture_top < 300, (width, look)
        assert look.picture_seen == 1, (width, look)
        assert look.num_controls <= 5, (width, look)
        assert (look.cut, look.width) == ([], width), look
        assert look.headline_px > look.largest_other[0], look


def test_the_sides_are_swapped_by_a_button_and_ended_by_another(page, visit):
    visit(page, "/model-sizes", sizes_a="plan_model=llama-2-13b", plan_model="llama-2-7b")
    until_headline(page, "12.6 GiB against 24.2 GiB")
    page.get_by_role("button", name="Swap").click()
    until_headline(page, "24.2 GiB against 12.6 GiB")
    page.get_by_role("button", name="End").click()
    until_headline(page, "The weights of Llama-2 13B", "startsWith")
    page.until("!location.search.includes('sizes_a')")
