"""Rearrange and einsum in a browser: a slider that is dragged, an example, and a tab."""

from tests.browser.seen import drawn, headline, press, until_headline

PATH = "/rearrange-and-einsum"


def test_a_longer_axis_redraws_the_cells_and_the_shapes(page, visit, screenshot):
    visit(page, PATH)
    drawn(page)
    assert "(2, 4, 6) → (2, 2, 4, 3)" in headline(page)

    press(page, "Length of h", "ArrowRight")
    until_headline(page, "(2, 4, 9) → (2, 3, 4, 3)")
    page.until("document.querySelector('.js-plotly-plot')?.textContent.includes('(2, 3, 4, 3)')")
    screenshot(page, "rearrange-and-einsum")


def test_an_example_fills_the_inputs(page, visit):
    visit(page, PATH)
    drawn(page)

    page.get_by_role("button", name="Examples").click()
    page.get_by_text("Merge attention heads").click()

    until_headline(page, "copies: (2, 2, 4, 3) → (2, 4, 6), 384 B")
