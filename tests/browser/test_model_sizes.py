"""Model sizes in a browser: a slider that answers, a pasted config.json."""

import json

from tests.app.shown import OWN
from tests.browser.seen import drawn, press, until_headline


def test_the_slider_steps_from_model_to_model_and_a_pasted_config_takes_its_place(page, visit):
    visit(page, "/model-sizes")
    drawn(page)
    press(page, "Parameters", "ArrowRight")
    until_headline(page, "The weights of 7B take 13.0 GiB", "startsWith")
    page.until("document.querySelector('.js-plotly-plot').textContent.includes('26.1 GiB')")

    page.get_by_role("button", name="config.json").click()
    field = page.get_by_role("textbox", name="The text of a config.json")
    field.fill(json.dumps(OWN))
    field.press("Control+Enter")
    until_headline(page, "The weights of llama take", "startsWith")
    assert "sizes_config=" in page.url
