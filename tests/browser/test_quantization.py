"""Quantization in a browser: a slider, a hover, and uploads that are refused."""

import io

import numpy as np
import pytest
from safetensors.numpy import save

PATH = "/quantization"
HEADLINE = ".st-key-headline p"


def headline(page):
    return page.locator(HEADLINE).first.inner_text()


def drawn(page):
    page.locator(".js-plotly-plot").first.wait_for(timeout=60_000)
    page.until("document.querySelectorAll('[data-testid=stSpinner]').length === 0")


def settings(page):
    page.get_by_role("button", name="Settings").click()
    page.get_by_text("Rows and columns").wait_for()


@pytest.mark.parametrize(("width", "present"), [(1366, ""), (1024, "1")])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_picture_is_on_the_first_screen(new_page, visit, screenshot, width, present, theme):
    page = visit(new_page(width=width, theme=theme), PATH, **({"present": "1"} if present else {}))
    drawn(page)

    box = page.locator(".js-plotly-plot").first.bounding_box()

    assert box["y"] + box["height"] <= 768
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    screenshot(page, f"quantization-{theme}-{width}")


def test_a_moved_slider_brings_a_new_picture(page, visit):
    visit(page, PATH)
    drawn(page)
    settings(page)
    slider = page.get_by_role("slider", name="Values in a group (formats in groups)")
    slider.focus()
    for key, size in (("ArrowLeft", 64), ("ArrowLeft", 32), ("ArrowLeft", 16), ("ArrowRight", 32)):
        slider.press(key)
        page.until(
            f"document.querySelector('.js-plotly-plot')?.textContent.includes('int4_group{size} ')"
        )
        assert f"int4_group{size}" in headline(page)


def test_a_cell_explains_itself_on_hover(page, visit):
    visit(page, PATH)
    drawn(page)
    box = page.locator(".js-plotly-plot").first.bounding_box()

    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.5)
    page.until("document.querySelectorAll('.js-plotly-plot .hoverlayer .hovertext').length > 0")

    text = page.locator(".js-plotly-plot .hoverlayer").first.text_content()
    assert "code 0x" in text
    assert "×" in text
    assert "error" in text


def test_a_pickled_file_is_refused_and_a_good_one_is_drawn(page, visit):
    visit(page, PATH, quant_tensor="upload")
    drawn(page)
    pickled, good = io.BytesIO(), io.BytesIO()
    np.save(pickled, np.array([{"run": "me"}], dtype=object), allow_pickle=True)
    np.save(good, np.arange(1, 4097, dtype=np.float32).reshape(64, 64))
    chooser = page.locator("input[type=file]")

    chooser.set_input_files(
        {"name": "bad.npy", "mimeType": "application/octet-stream", "buffer": pickled.getvalue()}
    )
    page.get_by_text("pickled Python objects, which are never opened").wait_for()
    assert "20.4 dB" in headline(page)

    chooser.set_input_files(
        {"name": "good.npy", "mimeType": "application/octet-stream", "buffer": good.getvalue()}
    )
    page.until(f"!document.querySelector({HEADLINE!r}).innerText.includes('20.4 dB')")
    assert page.get_by_text("pickled Python objects").count() == 0


def test_a_tensor_of_a_safetensors_file_is_chosen_and_drawn(page, visit, screenshot):
    visit(page, PATH, quant_tensor="upload")
    drawn(page)
    values = np.random.default_rng(0).standard_t(4, size=(96, 64)).astype(np.float32)
    data = save({"bias": values[0], "blocks.0.up_proj": values})

    page.locator("input[type=file]").set_input_files(
        {"name": "lora_1.safetensors", "mimeType": "application/octet-stream", "buffer": data}
    )
    page.get_by_text("Tensor of the file (2 in it)").wait_for()
    page.until(f"!document.querySelector({HEADLINE!r}).innerText.includes('20.4 dB')")
    matrix = headline(page)
    screenshot(page, "quantization-safetensors")

    page.get_by_role("combobox", name="Tensor of the file").click()
    page.get_by_role("option", name="bias · F32 · 64").click()
    page.get_by_text("Shape 64 is looked at as 1 × 64").wait_for()
    assert headline(page) != matrix


def test_a_file_of_6_mb_is_refused_in_a_sentence(page, visit):
    visit(page, PATH, quant_tensor="upload")
    drawn(page)
    large = b"\x93NUMPY" + bytes(6_000_000)

    page.locator("input[type=file]").set_input_files(
        {"name": "large.npy", "mimeType": "application/octet-stream", "buffer": large}
    )

    page.get_by_text("5.0MB or smaller").or_(page.get_by_text("5MB")).first.wait_for()
    assert "20.4 dB" in headline(page)
