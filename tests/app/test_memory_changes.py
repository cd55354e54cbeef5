"""The memory page's tabs about change: scenarios and ladder, at both ends of every input."""

import pytest

PAGE = "budget/training_memory"
EXTREMES = (
    {"memory_model": "gpt2", "memory_batch": "256", "memory_device": "t4"},
    {"memory_model": "deepseek-v3", "memory_seq": "1048576", "memory_checkpointing": "full"},
    {"memory_model": "gemma-2-9b", "memory_lora": "true", "memory_replicas": "1024"},
)


def headline(app):
    assert [each.value for each in app.exception] == []
    return app.session_state["headline"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_setting_of_the_page_is_compared_with_a_pin_whatever_it_is(open_page, language):
    for setting in EXTREMES:
        for view in ("parts", "choices", "table"):
            app = open_page(
                PAGE,
                lang=language,
                memory_tab="scenarios",
                memory_to="now",
                memory_change=view,
                **setting,
            )
            assert "A → " in headline(app), setting
            assert len(app.get("plotly_chart")) == (view != "table"), setting


def test_a_pinned_setting_is_in_the_copied_link_and_opens_again(open_page):
    app = open_page(PAGE, memory_tab="scenarios", memory_batch="7", memory_pins="")
    app.button(key="memory_pin").click().run()
    pins = app.session_state["memory_pins"]
    assert pins.startswith("llama-2-7b;h100-sxm;")
    assert "batch_size=7" in pins
    again = open_page(PAGE, memory_tab="scenarios", memory_pins=pins, memory_to="now")
    assert headline(again).startswith("A → now: ")
    (chart,) = again.get("plotly_chart")
    assert "activations −" in chart.proto.alt


def test_the_ladder_stands_on_a_projector_too(open_page):
    app = open_page(PAGE, memory_tab="ladder", memory_rung="qlora", present="1")
    assert headline(app).startswith("Rung 10 of 10")
    (chart,) = app.get("plotly_chart")
    assert chart.proto.alt.count("GiB, ours") == 5, "as many rungs as are drawn"
