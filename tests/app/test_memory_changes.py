"""The memory page's tabs about change: pinned scenarios and the ladder."""

import json

import pytest

from core.budget.comparison.rederived import ladder
from tests.app.shown import OWN, alt, headline, said

PAGE = "budget/training_memory"
EXTREMES = (
    {"memory_model": "gpt2", "memory_batch": "256", "memory_device": "t4"},
    {"memory_model": "deepseek-v3", "memory_seq": "1048576", "memory_checkpointing": "full"},
    {"memory_model": "gemma-2-9b", "memory_lora": "true", "memory_replicas": "1024"},
)
HERE = {
    "memory_model": "gpt2",
    "memory_device": "t4",
    "memory_batch": "4",
    "memory_seq": "1024",
    "memory_tab": "scenarios",
}


def table(app):
    return next(each.value for each in app.markdown if "| **" in each.value)


@pytest.mark.slow
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


def test_two_examples_are_compared_before_the_reader_has_pinned_anything(open_page):
    app = open_page(PAGE, **HERE)
    assert headline(app).startswith("A → C: ")
    assert "at the peak, −" in headline(app)
    assert "activations −" in alt(app)
    assert [each.label[0] for each in app.metric] == ["A", "C"]
    assert "The largest moment was “end of forward”" in said(app)


def test_all_pins_and_the_setting_stand_side_by_side(open_page):
    found = table(open_page(PAGE, **HERE, memory_change="table"))
    assert "|  | A | B | C | now |" in found
    again = "full: recompute every layer"
    assert f"| activation checkpointing | none | {again} | {again} | none |" in found
    assert "✗ too big | ✓ fits | ✓ fits" in found
    assert "| 当前 |" in table(open_page(PAGE, **HERE, memory_change="table", lang="zh"))


def test_the_choices_share_the_same_change_out(open_page):
    app = open_page(PAGE, **HERE, memory_change="choices", memory_to="now")
    assert headline(app).startswith("A → now: ")
    for words in ("model Llama-3.1 8B → GPT-2", "device ", "FSDP2: fp32 shards"):
        assert words in alt(app), words


def test_a_click_pins_the_setting_and_the_address_carries_it(open_page):
    app = open_page(PAGE, **HERE)
    app.button(key="memory_pin").click().run()
    assert app.button(key="memory_pin").label == "All four are pinned"
    pins = app.session_state["memory_pins"]
    assert "|gpt2;t4;batch_size=4;seq_len=1024;" in pins
    again = open_page(PAGE, **HERE, memory_pins=pins, memory_to="D")
    assert headline(again).startswith("A → D: ")
    app.button(key="memory_unpin_A").click().run()
    assert app.session_state["memory_pins"] == pins.split("|", 1)[1]


def test_a_pinned_setting_is_in_the_copied_link_and_opens_again(open_page):
    app = open_page(PAGE, memory_tab="scenarios", memory_batch="7", memory_pins="")
    app.button(key="memory_pin").click().run()
    pins = app.session_state["memory_pins"]
    assert pins.startswith("llama-2-7b;h100-sxm;")
    assert "batch_size=7" in pins
    again = open_page(PAGE, memory_tab="scenarios", memory_pins=pins, memory_to="now")
    assert headline(again).startswith("A → now: ")
    assert "activations −" in alt(again)


def test_four_are_the_most_and_a_locked_page_keeps_its_pins(open_page):
    app = open_page(PAGE, **HERE, memory_pins="|".join(["gpt2;t4"] * 4))
    assert app.button(key="memory_pin").disabled
    assert app.button(key="memory_pin").label == "All four are pinned"
    locked = open_page(PAGE, **HERE, lock="1")
    assert locked.button(key="memory_pin").disabled
    assert locked.button(key="memory_unpin_A").disabled


def test_a_model_of_the_readers_own_stays_in_the_session(open_page):
    own = HERE | {"memory_model": "own", "memory_config": json.dumps(OWN), "memory_pins": ""}
    app = open_page(PAGE, **own, memory_change="table")
    app.button(key="memory_pin").click().run()
    assert app.session_state["memory_pins"] == "own1"
    assert headline(app).startswith("A → now: ")
    assert "| model | llama | llama |" in table(app)
    assert "own1" in said(open_page(PAGE, **HERE, memory_pins="own1"))


@pytest.mark.parametrize(
    ("pin", "sentence"),
    [
        ("gpt9;t4", "Pin A is left out. model is 'gpt9'; use one of: "),
        ("gpt2;t4;batch_size=0", "Pin A is left out. batch_size is 0; it must lie between"),
        (
            "gpt2;t4;num_devices=8;tensor=8;seq_len=64",
            "Pin A is left out. 8 tensor-parallel ranks cannot share the 12",
        ),
        ("gpt2", "Pin A is left out. 'gpt2' is no scenario"),
    ],
)
def test_a_pin_that_cannot_be_is_left_out_with_a_sentence(open_page, pin, sentence):
    app = open_page(PAGE, **HERE, memory_pins=pin)
    assert sentence in said(app)
    assert "A is empty; the setting of the page stands in." in said(app)
    assert headline(app).startswith("now → now: ")
    assert "nothing changes" in alt(app)


def test_a_setting_that_cannot_be_leaves_a_sentence(open_page):
    impossible = HERE | {"memory_model": "deepseek-v3", "memory_lora": "true"}
    app = open_page(PAGE, **impossible)
    assert "The setting of the page is left out. DeepSeek-V3 has no matrix" in said(app)
    assert alt(app).startswith("From A")
    nothing = open_page(PAGE, **impossible, memory_pins="")
    assert headline(nothing).startswith("Nothing can be compared")
    assert nothing.get("plotly_chart") == []


def test_scenarios_in_chinese_and_on_a_projector(open_page):
    app = open_page(PAGE, **HERE, lang="zh", present="1")
    assert "A → C：峰值" in headline(app)


def test_the_tour_begins_where_ours_begins(open_page):
    app = open_page(PAGE, memory_tab="ladder")
    assert headline(app).startswith(
        f"Rung 2 of {len(ladder())}, Every sequence filled up to 4096 tokens: measured 60.0 GiB"
    )
    assert "LoRA of rank 64 instead: 8.50 GiB, ours" in alt(app)
    assert "torchtune, README.md" in said(app)


def test_every_rung_has_its_sentence_and_its_reason(open_page):
    for place, rung in enumerate(ladder()):
        app = open_page(PAGE, memory_tab="ladder", memory_rung=rung.slug)
        said = " ".join(each.value for each in app.markdown)
        assert headline(app).startswith(f"Rung {place + 1} of "), rung.slug
        assert rung.published.note["en"] in said, rung.slug
        assert ("By our rules, from the rung above" in said) == (place > 1), rung.slug
        assert len(app.metric) == (rung.ours is not None), rung.slug


def test_the_buttons_walk_and_stop_at_the_ends_and_where_the_page_is_locked(open_page):
    app = open_page(PAGE, memory_tab="ladder", memory_rung="baseline")
    assert app.button(key="memory_rung_up").disabled
    app.button(key="memory_rung_down").click().run()
    assert headline(app).startswith("Rung 2 of ")
    end = open_page(PAGE, memory_tab="ladder", memory_rung="qlora")
    assert end.button(key="memory_rung_down").disabled
    locked = open_page(PAGE, memory_tab="ladder", lock="1")
    assert locked.button(key="memory_rung_up").disabled


def test_the_ladder_stands_on_a_projector_and_in_chinese(open_page):
    app = open_page(PAGE, memory_tab="ladder", memory_rung="qlora", present="1")
    assert headline(app).startswith("Rung 10 of 10")
    assert alt(app).count("GiB, ours") == 5, "as many rungs as are drawn"
    assert headline(open_page(PAGE, memory_tab="ladder", lang="zh")).startswith(
        "第 2 级，共 10 级，"
    )


def test_what_the_two_letters_stand_for_is_said_in_words_below_the_picture_and_in_its_alt(
    open_page,
):
    setting = "Llama-3.1 8B; 8 × H100 SXM; 2 × 8,192 tokens; FSDP2"
    app = open_page(PAGE, **HERE)
    for words in (f"A is {setting}", f"C is {setting}", "activation checkpointing: full"):
        assert words in said(app), words
        assert words in alt(app), words
    assert "loss chunks: 8" in alt(app)
    now = open_page(PAGE, **HERE, memory_to="now", memory_change="table")
    assert "now is GPT-2; 1 × T4; 4 × 1,024 tokens" in said(now)
