"""Quantization in a browser: a slider, a hover, and uploads that are refused."""

import io

import numpy as np
import pytest
from safetensors.numpy import save

from tests.browser.seen import CHART, HEADLINE, drawn, headline

PATH = "/quantization"


def upload(page, name, data):
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": data}
    page.locator("input[type=file]").set_input_files(file)


@pytest.fixture
def before(page, visit):
    """The page that asks for a file, and shows a sample until it comes."""
    visit(page, PATH, quant_tensor="upload")
    drawn(page)
    assert "0.648 %" in headline(page)
    return page


def until_another(page):
    page.until(f"!document.querySelector({HEADLINE!r}).innerText.includes('43.8 dB')")


def test_a_cell_explains_itself_on_hover(page, visit):
    visit(page, PATH, quant_tab="codes")
    box = drawn(page).bounding_box()

    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.5)
    page.until("document.querySelectorAll('.js-plotly-plot .hoverlayer .hovertext').length > 0")

    text = page.locator(f"{CHART} .hoverlayer").first.text_content()
    assert "code 0x" in text
    assert "×" in text
    assert "error" in text


def test_a_pickled_file_is_refused_and_a_good_one_is_drawn(before):
    pickled, good = io.BytesIO(), io.BytesIO()
    np.save(pickled, np.array([{"run": "me"}], dtype=object), allow_pickle=True)
    np.save(good, np.arange(1, 4097, dtype=np.float32).reshape(64, 64))

    upload(before, "bad.npy", pickled.getvalue())
    before.get_by_text("pickled Python objects, which are never opened").wait_for()
    assert "0.648 %" in headline(before)

    upload(before, "good.npy", good.getvalue())
    until_another(before)
    before.get_by_text("pickled Python objects").wait_for(state="hidden")


def test_a_tensor_of_a_safetensors_file_is_chosen_and_drawn(before, screenshot):
    values = np.random.default_rng(0).standard_t(4, size=(96, 64)).astype(np.float32)
    upload(before, "lora_1.safetensors", save({"bias": values[0], "blocks.0.up_proj": values}))
    before.get_by_text("Tensor of the file (2 in it)").wait_for()
    until_another(before)
    matrix = headline(before)
    screenshot(before, "quantization-safetensors")

    tensors = before.get_by_role("combobox", name="Tensor of the file")
    tensors.scroll_into_view_if_needed()  # a page that scrolls closes the list
    before.wait_for_timeout(300)
    tensors.fill("bias")
    before.get_by_role("option", name="bias").wait_for()
    tensors.press("Enter")
    before.get_by_text("Shape 64 is looked at as 1 × 64").wait_for()
    assert headline(before) != matrix


def test_a_file_of_6_mb_is_refused_in_a_sentence(before):
    upload(before, "large.npy", b"\x93NUMPY" + bytes(6_000_000))
    before.get_by_text("5.0MB or smaller").or_(before.get_by_text("5MB")).first.wait_for()
    assert "0.648 %" in headline(before)
