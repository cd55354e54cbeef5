"""Serving in a browser: on one screen, a slider that answers, a number that explains itself."""

import pytest

PATH = "/serving"
HEADLINE = ".st-key-headline p"


def drawn(page):
    page.locator(".js-plotly-plot").first.wait_for(timeout=60_000)


@pytest.mark.parametrize(
    ("width", "theme", "tab"), [(1366, "light", "speed"), (1024, "dark", "memory")]
)
def test_the_picture_is_on_the_first_screen(new_page, visit, screenshot, width, theme, tab):
    present = {"present": "1"} if width == 1024 else {}
    page = visit(new_page(width=width, theme=theme), PATH, serving_tab=tab, **present)
    drawn(page)

    box = page.locator(".js-plotly-plot").first.bounding_box()

    assert box["y"] + box["height"] <= 768
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    screenshot(page, f"serving-{theme}-{width}")


def test_the_context_grows_the_cache_and_the_number_explains_itself(page, visit):
    visit(page, PATH)
    drawn(page)
    slider = page.get_by_role("slider", name="Context (tokens)")
    slider.focus()

    slider.press("ArrowRight")
    page.until(f"document.querySelector({HEADLINE!r}).innerText.includes('8.00 GiB KV cache')")
    slider.press("ArrowRight")
    page.until(f"document.querySelector({HEADLINE!r}).innerText.includes('16.0 GiB KV cache')")

    assert "only 1 sequence of 32,768 tokens fits" in page.locator(HEADLINE).first.inner_text()
    page.locator('[data-testid="stMetric"]').nth(1).get_by_test_id("stTooltipIcon").hover()
    page.get_by_text("= 17,179,869,184", exact=False).first.wait_for()
