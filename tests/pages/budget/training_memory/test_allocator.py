"""The allocator's programs, line by line."""

from core.budget.training.allocator_stories import STORIES

SCRIPT = """
from core.budget.training.scenario import named_scenario
from pages.budget.training_memory.allocator import show_allocator
show_allocator(named_scenario("gpt2", "t4"))
"""


def headline(app):
    assert [each.message for each in app.exception] == []
    return app.session_state["headline"]


def test_every_program_has_its_picture_and_its_sentence(open_script):
    for story, lines in STORIES.items():
        app = open_script(SCRIPT, memory_story=story, memory_line="2")
        assert headline(app).startswith("After line 2: "), story
        assert lines[1].note in " ".join(each.value for each in app.markdown)
        assert f"→ {lines[1].code}" in app.code[0].value


def test_a_line_beyond_the_end_is_the_last_one(open_script):
    app = open_script(SCRIPT, memory_story="two", memory_line="8")
    (slider,) = app.select_slider
    assert slider.options[1] == slider.options[-1] == "2 / 2"
    assert headline(app) == (
        "After line 2: 8.00 KiB allocated, 2.00 MiB reserved, 1.99 MiB of it idle; peak 8.00 KiB"
    )


def test_out_of_memory_is_told_as_torch_tells_it(open_script):
    app = open_script(SCRIPT, memory_story="holes", memory_line="7")
    assert "CUDA out of memory: tried to allocate 50.0 MiB" in app.error[0].value
