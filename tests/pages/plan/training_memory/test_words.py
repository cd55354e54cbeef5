"""The words of choices, as the page names them, and of reasons, as the formulas name them."""

from core.budget import Formula
from core.budget.comparison.difference import Step
from core.budget.item import item
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.scenario import CHOICES, named_scenario
from pages.plan.training_memory.words import (
    CHOICE_NAMES,
    change_text,
    choice_text,
    setting_text,
    why,
)

PLAIN = named_scenario("gpt2", "t4")
OTHER = named_scenario(
    "llama-2-7b",
    "h100-sxm",
    TrainingRecipe(lora=LoRA(rank=4), checkpointing="full", precision="fp32"),
    {"num_devices": 8, "tensor": 8, "sequence_parallel": True, "overlap": 0.5},
)


def part(name, amount, formula="amount"):
    return item(
        name,
        Formula(formula),
        {"amount": amount, "idle": amount},
        unit="bytes",
        kind="exact",
        source="",
    )


def test_every_choice_has_a_name_and_a_value_in_words():
    assert set(CHOICE_NAMES) == set(CHOICES)
    for name in CHOICES:
        assert choice_text(name, PLAIN), name
    found = {name: choice_text(name, OTHER) for name in CHOICES}
    assert found["lora"] == "r4 q+v bfloat16"
    assert found["sequence_parallel"] == "yes"
    assert found["overlap"] == "0.5"
    assert found["checkpointing"] == "full: recompute every layer"
    assert choice_text("lora", PLAIN) == "no"


def test_a_change_names_what_was_and_what_is():
    words = change_text(("num_devices", "tensor"), PLAIN, OTHER)
    assert words == "devices 1 → 8, tensor-parallel size 1 → 8"


def test_the_reason_names_only_numbers_that_the_formulas_ask_for():
    step = Step(path=("a",), before=part("a", 1000), after=part("a", 2000))
    assert why(step) == "amount 1,000 → 2,000"
    other = Step(path=("a",), before=part("a", 1), after=part("a", 1, "2 * idle"))
    assert why(other) == "amount 1 → –, idle – → 1, another formula"
    assert why(Step(path=("a",), before=None, after=part("a", 1))) == ""


def test_a_setting_in_words_names_model_devices_sizes_and_what_else_is_asked_for():
    words = setting_text(OTHER, ("lora", "num_devices"))
    assert words.startswith("Llama-2 7B; 8 × H100 SXM; 1 × ")
    assert "activation checkpointing: full" in words
    assert words.endswith("LoRA: r4 q+v bfloat16")
