"""Diagnose in a browser: pasted lines are read as they are, fill the plan, and stay in the link."""

import urllib.parse

import pytest

from tests.browser.seen import drawn, headline, until_headline

RECIPE = """\
base_model: meta-llama/Llama-3.1-8B
sequence_len: 4096
micro_batch_size: 2
adapter: lora
lora_r: 16
flux_capacitor: true
"""
TEXT = ".st-key-diagnose_text textarea"
INSTRUCTIONS = "[data-testid=stFileUploaderDropzoneInstructions]"
TAKE = ".st-key-plan_take_brought button"


def paste(page, text):
    page.locator(TEXT).fill(text)
    page.locator(TEXT).press("Control+Enter")


def test_a_pasted_recipe_fills_the_plan_and_its_link_opens_the_same(page, visit, new_page):
    visit(page, "/diagnose", plan_devices="1")
    drawn(page)
    paste(page, RECIPE)
    until_headline(page, "an axolotl recipe")
    page.get_by_text("flux_capacitor", exact=True).last.wait_for()
    page.locator(TAKE).click()
    page.until("location.search.includes('plan_batch=2')")
    page.until("location.search.includes('plan_length=4096')")
    page.until(f"document.querySelector('{TAKE}').disabled")
    said = headline(page)
    query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page.url).query))
    assert "\n" in query["diagnose_text"]
    other = visit(new_page(), "/diagnose", **query)
    drawn(other)
    assert headline(other) == said


def test_a_dropped_file_is_read_instead_of_the_text_until_it_is_taken_away(page, visit):
    visit(page, "/diagnose")
    drawn(page)
    before = headline(page)
    page.locator(".st-key-diagnose_file input[type=file]").set_input_files(
        files=[{"name": "recipe.yaml", "mimeType": "text/plain", "buffer": RECIPE.encode()}]
    )
    until_headline(page, "an axolotl recipe")
    page.locator(".st-key-diagnose_file").get_by_role("button", name="recipe.yaml").click()
    until_headline(page, before)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_place_for_a_file_speaks_the_readers_language(new_page, visit, lang):
    page = visit(new_page(lang=lang), "/diagnose")
    drawn(page)
    place = "document.querySelector('.st-key-diagnose_file')"
    # Streamlit's own word stays as the button's name for those who hear it, and is not seen.
    page.until(f"getComputedStyle({place}.querySelector('section button p')).opacity === '0'")
    page.until(f"!{place}.innerText.includes('per file')")
    shown = [
        page.evaluate(f"getComputedStyle({place}.querySelector('{each}'), '::after').content")
        for each in ("section button [data-testid=stMarkdownContainer]", INSTRUCTIONS)
    ]
    assert ("选择文件" in shown[0]) == (lang == "zh")
    assert "5 MB" in shown[1]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_nothing_is_answered_in_a_sentence(new_page, visit, lang):
    page = visit(new_page(lang=lang, width=390, height=844), "/diagnose")
    drawn(page)
    paste(page, "hello")
    page.until("document.querySelector('[data-testid=stAlert]') !== null")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_on_a_projector_the_names_of_many_parts_leave_the_bars_their_room(new_page, visit):
    """Beside the bars their names narrow the legend to one column, which took all but 10 px."""
    text = (
        "CUDA out of memory. Tried to allocate 172.00 MiB. GPU 0 has a total capacity of 79.35 GiB "
        "of which 92.00 MiB is free. Including non-PyTorch memory, this process has 78.90 GiB "
        "memory in use. Of the allocated memory 73.12 GiB is allocated by PyTorch, and 4.61 GiB is "
        "reserved by PyTorch but unallocated."
    )
    page = visit(new_page(height=768, width=1024), "/diagnose", present="1", diagnose_text=text)
    drawn(page)
    bars = "[...document.querySelectorAll('.js-plotly-plot .point path')]"
    assert page.evaluate(f"Math.max(...{bars}.map(bar => bar.getBoundingClientRect().height))") > 25
