"""Pinned scenarios: from the address, from a click, as a table and as a waterfall."""

import pytest

SCRIPT = """
from core.budget.recipe import TrainingRecipe
from core.budget.training.scenario import named_scenario
from pages.budget.training_memory.scenarios import show_scenarios
show_scenarios(named_scenario("gpt2", "t4", TrainingRecipe({recipe})))
"""
HERE = SCRIPT.format(recipe="batch_size=4, seq_len=1024")


def headline(app):
    assert [each.message for each in app.exception] == []
    return app.session_state["headline"]


def table(app):
    return next(each.value for each in app.markdown if "| **" in each.value)


def alt(app):
    (chart,) = app.get("plotly_chart")
    return chart.proto.alt


def captions(app):
    return " ".join(each.value for each in app.caption)


def test_two_examples_are_compared_before_the_reader_has_pinned_anything(open_script):
    app = open_script(HERE)
    assert headline(app).startswith("A → C: ")
    assert "at the peak, −" in headline(app)
    assert "activations −" in alt(app)
    assert [each.label[0] for each in app.metric] == ["A", "C"]
    assert "The largest moment was “end of forward”" in captions(app)


def test_all_pins_and_the_setting_stand_side_by_side(open_script):
    app = open_script(HERE, memory_change="table")
    assert "|  | A | B | C | now |" in table(app)
    assert (
        "| computed again | nothing | every layer (full) | every layer (full) | nothing |"
        in table(app)
    )
    assert "✗ too big | ✓ fits | ✓ fits" in table(app)
    assert "| 当前 |" in table(open_script(HERE, memory_change="table", lang="zh"))


def test_the_choices_share_the_same_change_out(open_script):
    app = open_script(HERE, memory_change="choices", memory_to="now")
    assert headline(app).startswith("A → now: ")
    for words in (
        "model Llama-3.1 8B → GPT-2",
        "device ",
        "batch size 2 → 4",
        "FSDP2: fp32 shards",
    ):
        assert words in alt(app), words


def test_a_click_pins_the_setting_and_the_address_carries_it(open_script):
    app = open_script(HERE)
    app.button(key="memory_pin").click().run()
    assert app.button(key="memory_pin").label == "All four are pinned"
    pins = app.session_state["memory_pins"]
    assert pins.endswith("|gpt2;t4;batch_size=4;seq_len=1024")
    again = open_script(HERE, memory_pins=pins, memory_to="D")
    assert headline(again).startswith("A → D: ")
    app.button(key="memory_unpin_A").click().run()
    assert app.session_state["memory_pins"] == pins.split("|", 1)[1]


def test_four_are_the_most(open_script):
    app = open_script(HERE, memory_pins="|".join(["gpt2;t4"] * 4))
    assert app.button(key="memory_pin").disabled
    assert app.button(key="memory_pin").label == "All four are pinned"


def test_a_model_of_the_readers_own_stays_in_the_session(open_script):
    own = HERE.replace("show_scenarios(", "from dataclasses import replace\nfound = (") + (
        "\nshow_scenarios(replace(found, spec=replace(found.spec, name='mine', num_layers=3)))"
    )
    app = open_script(own, memory_pins="", memory_change="table")
    app.button(key="memory_pin").click().run()
    assert app.session_state["memory_pins"] == "own1"
    assert headline(app).startswith("A → now: ")
    assert "mine" in table(app)
    assert "own1" in captions(open_script(HERE, memory_pins="own1"))


@pytest.mark.parametrize(
    ("pin", "sentence"),
    [
        ("gpt9;t4", "Pin A is left out. model is 'gpt9'; use one of: "),
        ("gpt2;t4;batch_size=0", "Pin A is left out. batch_size is 0; it must lie between"),
        (
            "gpt2;t4;num_devices=8;tensor=8;seq_len=64",
            "Pin A is left out. 8 tensor ranks cannot share the 12",
        ),
        ("gpt2", "Pin A is left out. 'gpt2' is no scenario"),
    ],
)
def test_a_pin_that_cannot_be_is_left_out_with_a_sentence(open_script, pin, sentence):
    app = open_script(HERE, memory_pins=pin)
    assert sentence in captions(app)
    assert "A is empty; the setting above stands in." in captions(app)
    assert headline(app).startswith("now → now: ")
    assert "nothing changes" in alt(app)


def test_a_setting_that_cannot_be_leaves_a_sentence(open_script):
    impossible = HERE.replace(
        "batch_size=4, seq_len=1024))", "seq_len=64), {'num_devices': 8, 'tensor': 8})"
    )
    app = open_script(impossible)
    assert "The setting above is left out. 8 tensor ranks cannot share the 12" in captions(app)
    assert alt(app).startswith("From A")
    nothing = open_script(impossible, memory_pins="")
    assert headline(nothing).startswith("Nothing can be compared")
    assert nothing.get("plotly_chart") == []


def test_chinese_and_a_projector(open_script):
    app = open_script(HERE, lang="zh", present="1")
    assert "A → C：峰值" in headline(app)
