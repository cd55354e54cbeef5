"""What checkpointing keeps; the bytes are held against the trace in test_activations."""

from core.budget.catalogue.models import MODELS
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.checkpointing import all_tensors, kept_tensors, recomputed_tensors

LLAMA = MODELS["llama-2-7b"]


def test_full_checkpointing_keeps_a_blocks_input_and_makes_all_else_again():
    recipe = TrainingRecipe(checkpointing="full")
    (row,) = kept_tensors(LLAMA, recipe)["block inputs"]
    assert row.size == "residual_bytes * norm_tokens * hidden_dim"
    assert recomputed_tensors(LLAMA, recipe) == all_tensors(LLAMA, recipe)


def test_selective_checkpointing_makes_nothing_again_that_a_product_gives_out():
    recipe = TrainingRecipe(checkpointing="selective")
    again = recomputed_tensors(LLAMA, recipe)
    assert not any(row.output for rows in again.values() for row in rows)
    assert recomputed_tensors(LLAMA, TrainingRecipe()) == {}


def test_korthikantis_selective_makes_the_scores_again_and_nothing_else():
    recipe = TrainingRecipe(checkpointing="selective", profile="megatron")
    again = recomputed_tensors(MODELS["gpt-3-175b"], recipe)
    assert list(again) == ["attention"]
    assert all("seq_len ** 2" in row.size for row in again["attention"])


def test_frozen_matrices_keep_no_input_and_adapters_keep_theirs():
    recipe = TrainingRecipe(lora=LoRA(targets=("q",)))
    rows = all_tensors(LLAMA, recipe)
    names = [row.what for row in rows["attention"]]
    assert names[0] == "input of q, k and v"
    assert names[-1] == "A(x), q"
    assert not any("down" in row.op for row in rows["feed-forward"])
