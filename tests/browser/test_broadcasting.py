"""Broadcasting in a browser: a length dragged, a box clicked, an example opened."""

from tests.browser.seen import drawn, headline, until_headline

PATH = "/broadcasting"


def test_a_dragged_length_changes_the_shape_and_a_click_on_a_box_the_dimension(page, visit):
    visit(page, PATH)
    drawn(page)
    assert "(3, 1) + (1, 4)" in headline(page)
    length = page.get_by_role("slider", name="Length in a")
    length.focus()
    length.press("ArrowRight")
    until_headline(page, "(3, 2) + (1, 4)")
    page.get_by_text("What torch says").wait_for()
    page.get_by_text("must match the size of tensor b (4)").wait_for()

    page.until("document.querySelectorAll('.js-plotly-plot .textpoint text').length >= 6")
    box = page.locator(".js-plotly-plot .textpoint text").first.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.until("location.search.includes('broad_dim=-2')")


def test_an_example_fills_the_shapes_and_the_link(page, visit):
    visit(page, PATH)
    drawn(page)
    page.get_by_role("button", name="Examples").click()
    page.get_by_text("RoPE: one table of angles for every head").click()
    until_headline(page, "(1, 128, 1, 64) → (2, 128, 12, 64)")
    page.until("location.search.includes('broad_dim=-2')")
