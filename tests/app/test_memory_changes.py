"""The memory page's tabs about change: from one setting to another, old pins, the ladder."""

import pytest

from core.budget.comparison.rederived import ladder
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.scenario import named_scenario
from pages.plan.training_memory.old_pins import inputs_of
from tests.app.shown import alt, headline, parameters, said

PAGE = "plan/training_memory"
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
OLD = (
    "gpt2;t4;batch_size=2;seq_len=512;accumulation=8;step_kind=fused|"
    "gpt2;t4;batch_size=8;seq_len=512;accumulation=8;step_kind=fused;checkpointing=full"
)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_setting_of_the_page_is_compared_with_the_example_whatever_it_is(open_page, language):
    for setting in EXTREMES:
        for view in ("parts", "choices"):
            app = open_page(
                PAGE, lang=language, memory_tab="scenarios", memory_change=view, **setting
            )
            assert "A → B" in headline(app), setting
            assert len(app.get("plotly_chart")) == 1, setting


def test_an_example_stands_before_the_setting_until_the_reader_keeps_one(open_page):
    app = open_page(PAGE, **HERE)
    assert headline(app).startswith("A → B: 143 GiB → ")
    assert "activations −" in alt(app)
    assert "A is an example: Llama-3.1 8B; 8 × H100 SXM; 2 × 8,192 tokens; FSDP2" in said(app)
    assert "B is the setting of the page: GPT-2; 1 × T4; 4 × 1,024 tokens" in alt(app)
    app.button(key="memory_compare").click().run()
    assert headline(app).endswith("±0")
    assert "A was kept: GPT-2; 1 × T4; 4 × 1,024 tokens" in said(app)
    app.slider(key="memory_batch").set_value(8).run()
    assert "at the peak, +" in headline(app)


def test_the_choices_share_the_same_change_out(open_page):
    app = open_page(PAGE, **HERE, memory_change="choices")
    for words in ("model Llama-3.1 8B → GPT-2", "device ", "FSDP2: fp32 shards"):
        assert words in alt(app), words


def test_an_old_link_with_pins_opens_as_the_comparison_of_its_two_letters(open_page):
    app = open_page(PAGE, memory_tab="scenarios", memory_pins=OLD, memory_to="B")
    now = parameters(app)
    assert {name: now[f"memory_{name}"] for name in ("model", "batch", "seq", "checkpointing")} == {
        "model": "gpt2",
        "batch": "8",
        "seq": "512",
        "checkpointing": "full",
    }
    assert "batch=2" in now["memory_a"]
    assert "A was kept: GPT-2; 1 × T4; 2 × 512 tokens" in said(app)
    assert "memory_pins" not in said(app)
    assert set(app.query_params) >= {"memory_a", "memory_batch"}
    assert not {"memory_pins", "memory_to"} & set(app.query_params)


def test_an_old_link_to_the_three_examples_says_what_it_said(open_page):
    app = open_page(PAGE, memory_tab="scenarios", memory_from="A", memory_to="C")
    assert headline(app) == "A → B: 143 GiB → 25.9 GiB at the peak, −117 GiB"
    table = open_page(PAGE, memory_tab="scenarios", memory_from="A", memory_change="table")
    assert headline(table).startswith("B needs 0.181 times A's memory: 25.9 GiB against 143 GiB")


def test_now_and_an_empty_letter_stand_for_the_setting_of_the_link(open_page):
    app = open_page(PAGE, **HERE, memory_pins=OLD, memory_to="now")
    assert "A was kept: GPT-2; 1 × T4; 2 × 512 tokens" in said(app)
    assert "B is the setting of the page: GPT-2; 1 × T4; 4 × 1,024 tokens" in said(app)
    other = open_page(PAGE, **HERE, memory_pins=OLD, memory_from="now", memory_to="B")
    assert "A was kept: GPT-2; 1 × T4; 4 × 1,024 tokens" in said(other)
    assert headline(open_page(PAGE, **HERE, memory_pins=OLD, memory_from="D")).startswith("A → B")


@pytest.mark.parametrize(
    ("pin", "sentence"),
    [
        ("gpt9;t4", "Pin A is left out. model is 'gpt9'; use one of: "),
        ("gpt2;t4;batch_size=0", "Pin A is left out. batch_size is 0; it must lie between"),
        ("gpt2", "Pin A is left out. 'gpt2' is no scenario"),
        ("gpt2;t4;overlap=0.9", "Pin A is left out. This page does not ask for `overlap`."),
        ("gpt2;t4;lora=8,q,nf4", "Pin A is left out. This page does not ask for `q`."),
    ],
)
def test_a_pin_that_cannot_be_is_left_out_with_a_sentence(open_page, pin, sentence):
    app = open_page(PAGE, **HERE, memory_pins=pin, memory_to="now")
    assert sentence in said(app)
    assert headline(app).endswith("±0")


def test_every_choice_of_a_scenario_becomes_the_input_that_makes_it(open_page):
    recipe = TrainingRecipe(
        batch_size=3, seq_len=2048, precision="pure_bf16", lora=LoRA(rank=16, base_format="nf4")
    )
    layout = {"num_devices": 16, "tensor": 2, "zero_stage": 1, "sequence_parallel": True}
    values = inputs_of(named_scenario("llama-2-7b", "a100-80gb", recipe, layout))
    app = open_page(PAGE, **{f"memory_{name}": value for name, value in values.items()})
    assert " parameters of Llama-2 7B are trained" in headline(app)
    now = parameters(app)
    assert {name: now[f"memory_{name}"] for name in values} == values
    assert values["replicas"] == "8"


def test_a_setting_that_cannot_be_leaves_a_sentence(open_page):
    app = open_page(PAGE, **HERE | {"memory_model": "deepseek-v3", "memory_lora": "true"})
    assert headline(app) == "This setting cannot be trained."
    assert "DeepSeek-V3 has no matrix" in app.error[0].value
    assert app.get("plotly_chart") == []


def test_scenarios_in_chinese_and_on_a_projector(open_page):
    app = open_page(PAGE, **HERE, lang="zh", present="1")
    assert "A → B：峰值" in headline(app)


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
