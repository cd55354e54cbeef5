"""What fits in a browser: one screen, a click on a square, a claim in own words."""

import pytest

PATH = "/what-fits"
HEADLINE = ".st-key-headline p"


def headline(page):
    return page.locator(HEADLINE).first.inner_text()


def drawn(page):
    page.locator(".js-plotly-plot").first.wait_for(timeout=60_000)
    page.until("document.querySelectorAll('[data-testid=stSpinner]').length === 0")


@pytest.mark.parametrize(("width", "theme", "present"), [(1366, "light", ""), (1024, "dark", "1")])
def test_the_picture_is_on_the_first_screen(new_page, visit, screenshot, width, theme, present):
    page = visit(new_page(width=width, theme=theme), PATH, **({"present": "1"} if present else {}))
    drawn(page)

    box = page.locator(".js-plotly-plot").first.bounding_box()

    assert box["y"] + box["height"] <= 768
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    screenshot(page, f"what-fits-{theme}-{width}")


def test_a_click_on_a_square_says_why_and_is_kept_in_the_address(page, visit):
    visit(page, PATH)
    drawn(page)
    box = page.locator(".js-plotly-plot .nsewdrag").first.bounding_box()

    # the first column is the smallest device, the last row the largest model
    page.mouse.click(box["x"] + box["width"] / 46, box["y"] + box["height"] * 0.95)
    page.until(f"document.querySelector({HEADLINE!r}).innerText.includes('DeepSeek-V3')")

    assert "on one T4 does not fit" in headline(page)
    assert "fits_model=deepseek-v3" in page.url
    assert "fits_device=t4" in page.url
