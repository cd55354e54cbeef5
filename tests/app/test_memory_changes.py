"""Old pins of the memory page open as a comparison."""

import pytest

from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.scenario import named_scenario
from pages.plan.training_memory.old_pins import inputs_of
from tests.app.shown import headline, parameters, said

PAGE = "plan/training_memory"
HERE = {
    "memory_model": "gpt2",
    "memory_device": "t4",
    "memory_batch": "4",
    "memory_seq": "1024",
}
OLD = (
    "gpt2;t4;batch_size=2;seq_len=512;accumulation=8;step_kind=fused|"
    "gpt2;t4;batch_size=8;seq_len=512;accumulation=8;step_kind=fused;checkpointing=full"
)


def test_an_old_link_with_pins_opens_as_the_comparison_of_its_two_letters(open_page):
    app = open_page(PAGE, memory_pins=OLD, memory_to="B")
    now = parameters(app)
    assert {name: now[f"memory_{name}"] for name in ("model", "batch", "seq", "checkpointing")} == {
        "model": "gpt2",
        "batch": "8",
        "seq": "512",
        "checkpointing": "full",
    }
    assert "batch=2" in now["memory_a"]
    assert "memory_pins" not in said(app)
    assert set(app.query_params) >= {"memory_a", "memory_batch"}
    assert not {"memory_pins", "memory_to"} & set(app.query_params)


def test_an_old_link_to_the_three_examples_says_what_it_said(open_page):
    app = open_page(PAGE, memory_from="A", memory_to="C")
    assert headline(app).startswith("B needs 0.181 times A's memory: 25.9 GiB against 143 GiB")


def test_now_and_an_empty_letter_stand_for_the_setting_of_the_link(open_page):
    now = parameters(open_page(PAGE, **HERE, memory_pins=OLD, memory_to="now"))
    assert "batch=2" in now["memory_a"]
    assert (now["memory_batch"], now["memory_seq"]) == ("4", "1024")
    other = parameters(open_page(PAGE, **HERE, memory_pins=OLD, memory_from="now", memory_to="B"))
    assert "batch=4" in other["memory_a"]
    assert other["memory_batch"] == "8"
    empty = parameters(open_page(PAGE, **HERE, memory_pins=OLD, memory_from="D"))
    assert "batch=4" in empty["memory_a"]


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
    assert "the same memory" in headline(app)


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
