"""The words of choices, as the page names them, and of reasons, as the formulas name them."""

from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.scenario import CLUSTER_FIELDS, RECIPE_FIELDS
from pages.plan.training_memory.words import (
    CHOICE_NAMES,
    choice_text,
)
from tests.core.budget.named import named_scenario

PLAIN = named_scenario("gpt2", "t4")
OTHER = named_scenario(
    "llama-2-7b",
    "h100-sxm",
    TrainingRecipe(lora=LoRA(rank=4), checkpointing="full", precision="fp32"),
    {"num_devices": 8, "tensor": 8, "sequence_parallel": True, "overlap": 0.5},
)


def test_every_choice_has_a_name_and_a_value_in_words():
    choices = {"model", "device", *CLUSTER_FIELDS, *RECIPE_FIELDS}
    assert choices - set(CHOICE_NAMES) == {"accumulation"}
    for name in CHOICE_NAMES:
        assert choice_text(name, PLAIN), name
    found = {name: choice_text(name, OTHER) for name in CHOICE_NAMES}
    assert found["lora"] == "r4 q+v bfloat16"
    assert found["sequence_parallel"] == "yes"
    assert found["overlap"] == "0.5"
    assert found["checkpointing"] == "full: recompute every layer"
    assert choice_text("lora", PLAIN) == "no"
