"""The low-precision labs in a browser: one screen, quick sliders, keys, real gradients."""

import re

import pytest

from tests.browser.seen import drawn, headline, press, until_headline

PATH = "/low-precision-training"
TABS = ("sums", "updates", "softmax", "scale")


@pytest.mark.parametrize(("width", "present", "lang"), [(1366, "0", "en"), (1024, "1", "zh")])
def test_every_picture_is_on_the_first_screen(
    new_page, visit, ready, screenshot, width, present, lang
):
    page = new_page(width=width, lang=lang)
    for tab in TABS:
        visit(page, PATH, present=present, lowp_tab=tab)
        ready(page)
        box = drawn(page).bounding_box()
        assert box["y"] + box["height"] <= 768, tab
        assert page.evaluate("document.documentElement.scrollWidth") <= width, tab
        screenshot(page, f"low-precision-{tab}-{lang}-{width}")


def test_keys_and_buttons_walk_through_the_steps_of_the_scaler(page, visit):
    visit(page, PATH, lowp_tab="scale", lowp_scale_by="scaler")
    drawn(page)
    assert "196,608" in headline(page)

    press(page, "Step", "ArrowRight")
    until_headline(page, "Step 2:", "startsWith")
    forward = page.get_by_role("button", name="Next step")
    forward.focus()
    forward.press("Enter")
    until_headline(page, "Step 3:", "startsWith")
    page.until("location.search.includes('lowp_scaler_step=3')")
    page.get_by_role("button", name="Previous step").click()
    until_headline(page, "Step 2:", "startsWith")


def test_real_gradients_come_from_a_process_of_their_own(page, visit):
    visit(page, PATH, lowp_tab="scale", lowp_scale_source="real")
    drawn(page)
    # Those of the newest run of this server; of a fresh model where no run has a checkpoint.
    source = re.compile("Gradients of (a fresh small GPT|run .* at step)")
    page.get_by_text(source).wait_for()
    assert "of the gradients keep full precision" in headline(page)
    assert "2.38 %" not in headline(page)
