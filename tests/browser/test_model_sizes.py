"""Model sizes in a browser: a number that is typed, a pasted config.json."""

import json

from tests.app.shown import OWN
from tests.browser.seen import drawn, until_headline


def test_a_round_number_and_a_pasted_config_take_the_models_place(page, visit):
    visit(page, "/model-sizes")
    drawn(page)
    number = page.get_by_role("spinbutton", name="Parameters (B)")
    number.fill("7")
    number.press("Enter")
    until_headline(page, "The weights of 7B take 13.0 GiB", "startsWith")
    page.until("document.querySelector('.js-plotly-plot')?.textContent.includes('26.1 GiB')")
    number.fill("0")
    number.press("Enter")
    until_headline(page, "The weights of Llama-3.1 8B", "startsWith")

    menu = page.get_by_test_id("stSelectbox").filter(has_text="Model").locator("input").first
    menu.click()
    menu.fill("my own")
    menu.press("Enter")
    page.get_by_role("button", name="config.json").click()
    field = page.get_by_role("textbox", name="The text of a config.json")
    field.fill(json.dumps(OWN))
    field.press("Control+Enter")
    until_headline(page, "The weights of llama take", "startsWith")
    assert "plan_config=" in page.url


def test_who_types_a_maker_sees_its_models_or_devices_alone(page, visit):
    for address, label, maker, num_rows in (
        ("/model-sizes", "Device", "amd", 4),
        ("/training-memory", "Model", "alibaba", 13),
    ):
        visit(page, address)
        drawn(page)
        menu = page.get_by_test_id("stSelectbox").filter(has_text=label).locator("input").first
        menu.click()
        menu.fill(maker)
        rows = page.get_by_role("option")
        page.wait_for_function(
            "most => document.querySelectorAll('[role=option]').length <= most", arg=num_rows
        )
        assert all(maker in row.lower() for row in rows.all_inner_texts()), address
        assert rows.count() == num_rows, address
