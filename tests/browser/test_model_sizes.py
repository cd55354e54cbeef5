"""Model sizes in a browser: on one screen, a slider that answers, a pasted config.json."""

import json

import pytest

PATH = "/model-sizes"
HEADLINE = ".st-key-headline p"
OWN = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 1000,
    "max_position_embeddings": 128,
}


def drawn(page):
    page.locator(".js-plotly-plot").first.wait_for(timeout=60_000)


@pytest.mark.parametrize(
    ("width", "theme", "tab"), [(1366, "light", "model"), (1024, "dark", "table")]
)
def test_the_picture_is_on_the_first_screen(new_page, visit, screenshot, width, theme, tab):
    present = {"present": "1"} if width == 1024 else {}
    page = visit(new_page(width=width, theme=theme), PATH, sizes_tab=tab, **present)
    drawn(page)

    box = page.locator(".js-plotly-plot").first.bounding_box()

    assert box["y"] + box["height"] <= 768
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    screenshot(page, f"model-sizes-{theme}-{width}")


def test_the_slider_steps_from_model_to_model_and_a_pasted_config_takes_its_place(page, visit):
    visit(page, PATH)
    drawn(page)
    slider = page.get_by_role("slider", name="Parameters")
    slider.focus()
    slider.press("ArrowRight")
    page.until(f"document.querySelector({HEADLINE!r}).innerText.startsWith('7B: 7,000,000,000')")
    page.until("document.querySelector('.js-plotly-plot').textContent.includes('26.1 GiB')")

    page.get_by_role("button", name="config.json").click()
    field = page.get_by_role("textbox", name="The text of a config.json")
    field.fill(json.dumps(OWN))
    field.press("Enter")
    page.until(f"document.querySelector({HEADLINE!r}).innerText.startsWith('llama: 210,240')")
    assert "sizes_config=" in page.url
