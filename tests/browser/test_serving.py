"""Serving in a browser: a slider that answers, a number that explains itself."""

import itertools

import pytest

from tests.browser.seen import drawn, headline, press, until_headline


def test_the_context_grows_the_cache_and_the_number_explains_itself(page, visit):
    visit(page, "/serving", plan_device="rtx-4090", plan_devices="1")
    drawn(page)
    for tokens in ("12,288", "16,384", "24,576"):
        press(page, "Context length (tokens)", "ArrowRight")
        until_headline(page, f"with {tokens} tokens each")

    assert "Up to 2 concurrent users with 24,576 tokens" in headline(page)
    page.locator(".st-key-page_rail").get_by_role("button", name="Settings").click()
    page.get_by_test_id("stPopoverBody").get_by_text("Weight format").wait_for()
    page.wait_for_timeout(300)  # it finds its place in a few frames
    said = page.locator(".st-key-headline").bounding_box()
    opened = page.get_by_test_id("stPopoverBody").bounding_box()
    assert opened["y"] >= said["y"] + said["height"]
    page.keyboard.press("Escape")
    page.locator('[data-testid="stMetric"]').nth(1).get_by_test_id("stTooltipIcon").hover()
    page.get_by_text("= 12,884,901,888", exact=False).first.wait_for()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_word_of_the_memory_lies_inside_the_picture(page, visit, lang):
    for context in ("1048576", "8192"):
        for size in ((1366, 768), (1024, 768)):
            page.set_viewport_size({"width": size[0], "height": size[1]})
            visit(page, "/serving", lang=lang, plan_devices="1", plan_context_length=context)
            chart = drawn(page)
            frame = chart.locator(".main-svg").first.bounding_box()
            boxes = [each.bounding_box() for each in chart.locator(".annotation-text").all()]
            assert boxes, context
            for box in boxes:
                assert frame["x"] <= box["x"], (context, size)
                assert box["x"] + box["width"] <= frame["x"] + frame["width"], (context, size)
            ends = sorted((box["x"], box["x"] + box["width"]) for box in boxes)
            assert all(left[1] < right[0] for left, right in itertools.pairwise(ends))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_first_screen_of_a_plan_that_does_not_fit_has_its_picture_and_three_changes(
    new_page, visit, lang
):
    page = new_page(lang=lang)
    for query in (
        {"plan_concurrency": "2048"},
        {"plan_model": "deepseek-v3", "plan_devices": "2", "plan_concurrency": "512"},
    ):
        chart = drawn(visit(page, "/serving", plan_work="serve", **query))
        buttons = [page.locator(f".st-key-plan_change_{place} button").first for place in range(3)]
        for each in (chart, *buttons):
            box = each.bounding_box()
            assert box["y"] + box["height"] <= page.viewport_size["height"], query
