"""What fits in a browser: a click on a square."""

from tests.browser.seen import CHART, drawn, headline, until_headline


def test_a_click_on_a_square_says_why_and_is_kept_in_the_address(page, visit):
    visit(page, "/what-fits", fits_tab="map")
    drawn(page)
    box = page.locator(f"{CHART} .nsewdrag").first.bounding_box()

    # the first column is the smallest device, the last row the largest model
    page.mouse.click(box["x"] + box["width"] / 46, box["y"] + box["height"] * 0.95)
    until_headline(page, "DeepSeek-V3")

    assert "on one T4 does not fit" in headline(page)
    assert "plan_model=deepseek-v3" in page.url
    assert "plan_device=t4" in page.url
