"""FLOPs and time in a browser: one screen, a slider that answers, a product really timed here."""

import pytest

PATH = "/flops-and-time"
HEADLINE = ".st-key-headline p"


def headline(page):
    return page.locator(HEADLINE).first.inner_text()


def drawn(page):
    page.locator(".js-plotly-plot").first.wait_for(timeout=60_000)
    page.until("document.querySelectorAll('[data-testid=stSpinner]').length === 0")


@pytest.mark.parametrize(("width", "tab"), [(1366, "rule"), (1024, "ladder")])
def test_the_picture_is_on_the_first_screen(new_page, visit, screenshot, width, tab):
    present = {"present": "1"} if width == 1024 else {}
    page = visit(new_page(width=width, theme="dark"), PATH, flops_tab=tab, **present)
    drawn(page)

    box = page.locator(".js-plotly-plot").first.bounding_box()

    assert box["y"] + box["height"] <= 768
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    screenshot(page, f"flops-and-time-{tab}")


def test_a_slider_brings_a_new_number_and_a_product_is_timed_in_a_process_of_its_own(page, visit):
    visit(page, PATH, flops_tab="components", flops_model="llama-2-7b")
    drawn(page)
    slider = page.get_by_role("slider", name="Context in tokens")
    slider.focus()
    slider.press("ArrowLeft")
    page.until(f"document.querySelector({HEADLINE!r})?.innerText.includes('on 4,096 tokens')")
    assert "1.166 ×" in headline(page)

    visit(page, PATH, flops_tab="matmul", flops_matmul="256")
    drawn(page)
    page.get_by_role("button", name="Time it on this machine").click()
    page.until(f"document.querySelector({HEADLINE!r})?.innerText.includes(' here (')")
    assert headline(page).endswith("FLOP/s")
    assert page.locator(".js-plotly-plot").first.text_content().count("median, waiting")
