"""The step timeline in a browser: a step is simulated in a process of its own."""

import re

PATH = "/training-memory"
VERDICT = re.compile(r"Simulated peak .* closed form .* ([\d.]+)% apart")


def test_the_button_simulates_the_step_and_the_closed_form_agrees(page, visit):
    visit(page, PATH, memory_model="gpt2", memory_seq="512", memory_tab="timeline")
    page.get_by_role("button", name="Simulate this step").click()

    verdict = page.get_by_text(VERDICT).first
    verdict.wait_for(timeout=60_000)

    assert float(VERDICT.search(verdict.inner_text())[1]) < 1


def test_the_lines_of_a_program_are_walked_with_the_keyboard(page, visit):
    visit(page, PATH, memory_tab="allocator", memory_story="del", memory_line="5")
    page.get_by_text("After line 5: 60.0 MiB allocated").first.wait_for(timeout=30_000)

    page.get_by_role("slider", name="After line").press("ArrowRight")
    page.get_by_text("After line 6: 60.0 MiB allocated").first.wait_for(timeout=30_000)
    page.get_by_role("slider", name="After line").press("ArrowRight")

    page.get_by_text("After line 7: 0 B allocated, 0 B reserved").first.wait_for(timeout=30_000)
