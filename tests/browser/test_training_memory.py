"""Training memory in a browser: the first screen, a slider, a click on a line."""

import pytest

PATH = "/training-memory"
HEADLINE = ".st-key-headline p"


def drawn(page):
    page.locator(".js-plotly-plot").first.wait_for(timeout=60_000)
    page.until("document.querySelectorAll('[data-testid=stSpinner]').length === 0")


@pytest.mark.parametrize(("width", "theme", "present"), [(1366, "light", ""), (1024, "dark", "1")])
def test_the_bar_is_on_the_first_screen(new_page, visit, screenshot, width, theme, present):
    page = visit(new_page(width=width, theme=theme), PATH, **({"present": "1"} if present else {}))
    drawn(page)

    box = page.locator(".js-plotly-plot").first.bounding_box()

    assert box["y"] + box["height"] <= 768
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    screenshot(page, f"training-memory-{theme}-{width}")


def test_a_click_on_a_line_opens_its_formula(page, visit):
    visit(page, PATH, memory_tab="items")
    drawn(page)
    box = page.locator(".js-plotly-plot").first.bounding_box()

    page.mouse.click(box["x"] + box["width"] * 0.55, box["y"] + box["height"] * 0.5)

    page.until(f"document.querySelector('{HEADLINE}').textContent.startsWith('optimizer: 50.2')")
    assert page.get_by_text("2 * state_bytes * num_updated").first.is_visible()
