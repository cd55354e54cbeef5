"""Training memory in a browser: a line, a kept setting, a simulated step, a program."""

import re
import urllib.parse

from tests.browser.seen import drawn, press, until_headline

PATH = "/training-memory"
PLAIN = {"plan_model": "llama-2-7b", "plan_devices": 1, "plan_checkpointing": "none"}
VERDICT = re.compile(r"Simulated peak .* closed form .* ([\d.]+)% apart")


def test_a_click_on_a_line_opens_its_formula(page, visit):
    visit(page, PATH, memory_tab="items", **PLAIN)
    box = drawn(page).bounding_box()

    page.mouse.click(box["x"] + box["width"] * 0.55, box["y"] + box["height"] * 0.5)

    until_headline(page, "optimizer: 50.2", "startsWith")
    assert page.get_by_text("2 * state_bytes * num_updated").first.is_visible()


def parameter(page, name):
    query = urllib.parse.urlparse(page.url).query
    return urllib.parse.parse_qs(query).get(name, [""])[0]


def test_a_kept_setting_goes_into_the_address_and_outlives_a_reload(page, visit):
    visit(page, PATH, plan_batch=3)
    page.get_by_role("button", name="Compare with").click()
    until_headline(page, "A and B need the same memory", "startsWith")
    assert parameter(page, "memory_a") == "plan_model=llama-3.1-8b&plan_batch=3"
    page.reload()
    until_headline(page, "A and B need the same memory", "startsWith")


def test_the_button_simulates_the_step_and_the_closed_form_agrees(page, visit):
    visit(page, PATH, plan_model="gpt2", plan_length="512", memory_tab="timeline")
    page.get_by_role("button", name="Simulate this step").click()

    verdict = page.get_by_text(VERDICT).first
    verdict.wait_for()

    assert float(VERDICT.search(verdict.inner_text())[1]) < 1


def test_the_lines_of_a_program_are_walked_with_the_keyboard(page, visit):
    visit(page, PATH, memory_tab="allocator", memory_story="del", memory_line="5")
    page.get_by_text("After line 5: 60.0 MiB allocated").first.wait_for()
    for words in ("6: 60.0 MiB allocated", "7: 0 B allocated, 0 B reserved"):
        press(page, "After line", "ArrowRight")
        page.get_by_text(f"After line {words}").first.wait_for()
