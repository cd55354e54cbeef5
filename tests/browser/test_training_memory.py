"""Training memory in a browser: a click on a line, a pin, a simulated step, lines of a program."""

import re
import urllib.parse

from tests.browser.seen import drawn, headline, press, until_headline

PATH = "/training-memory"
VERDICT = re.compile(r"Simulated peak .* closed form .* ([\d.]+)% apart")


def test_a_click_on_a_line_opens_its_formula(page, visit):
    visit(page, PATH, memory_tab="items")
    box = drawn(page).bounding_box()

    page.mouse.click(box["x"] + box["width"] * 0.55, box["y"] + box["height"] * 0.5)

    until_headline(page, "optimizer: 50.2", "startsWith")
    assert page.get_by_text("2 * state_bytes * num_updated").first.is_visible()


def pins(page):
    query = urllib.parse.urlparse(page.url).query
    return urllib.parse.parse_qs(query).get("memory_pins", [""])[0]


def test_a_pin_goes_into_the_address_and_the_waterfall_follows(page, visit, screenshot):
    visit(page, PATH, memory_tab="scenarios", memory_to="D", memory_batch=3)
    drawn(page)
    assert headline(page).startswith("A → now")

    page.get_by_role("button", name="Pin as D").click()
    until_headline(page, "A → D", "startsWith")

    assert pins(page).endswith(";accumulation=8;step_kind=fused"), pins(page)
    assert "batch_size=3" in pins(page)
    screenshot(page, "memory-scenarios")
    page.reload()
    until_headline(page, "A → D", "startsWith")


def test_the_button_simulates_the_step_and_the_closed_form_agrees(page, visit):
    visit(page, PATH, memory_model="gpt2", memory_seq="512", memory_tab="timeline")
    page.get_by_role("button", name="Simulate this step").click()

    verdict = page.get_by_text(VERDICT).first
    verdict.wait_for(timeout=60_000)

    assert float(VERDICT.search(verdict.inner_text())[1]) < 1


def test_the_lines_of_a_program_are_walked_with_the_keyboard(page, visit):
    visit(page, PATH, memory_tab="allocator", memory_story="del", memory_line="5")
    page.get_by_text("After line 5: 60.0 MiB allocated").first.wait_for(timeout=30_000)
    for words in ("6: 60.0 MiB allocated", "7: 0 B allocated, 0 B reserved"):
        press(page, "After line", "ArrowRight")
        page.get_by_text(f"After line {words}").first.wait_for(timeout=30_000)
