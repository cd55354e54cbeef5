"""Bytes for each parameter, and the largest model that they allow."""

from core.budget.catalogue.models import MODELS
from core.budget.catalogue.parameters import counts
from core.budget.recipe import TrainingRecipe
from core.budget.training.optimizers import OPTIMIZERS
from core.budget.training.precisions import PRECISIONS
from core.budget.training.recipes import bytes_per_parameter, largest_by_states, states_in_all


def test_the_parts_add_up_to_the_named_recipe():
    for key, row in PRECISIONS.items():
        assert bytes_per_parameter(key).amount == row.with_adam, key


def test_the_states_of_a_model_are_its_parameters_times_the_bytes_of_one():
    for key in PRECISIONS:
        for model in ("gpt2", "llama-2-7b", "mixtral-8x7b", "deepseek-v3"):
            stored = states_in_all(MODELS[model], TrainingRecipe(precision=key)).amount
            each = bytes_per_parameter(key).amount
            assert stored == each * counts(MODELS[model]).total, (key, model)


def test_muon_keeps_two_moments_for_what_is_no_matrix_of_a_layer():
    spec, recipe = MODELS["qwen2.5-0.5b"], TrainingRecipe(optimizer="muon")
    in_matrices = counts(spec).matrices
    assert states_in_all(spec, recipe).amount == 16 * counts(spec).total - 4 * in_matrices


def test_eight_times_80_gb_hold_40_billion_parameters_of_16_bytes_and_53_of_12():
    # CS336, lecture 2 of 2025, question 2; of 2026
    for precision, expected in (("mixed_bf16", 40_000_000_000), ("cs336_12", 53_333_333_333)):
        largest = largest_by_states(640e9, bytes_per_parameter(precision))
        assert largest.amount == expected, precision


def test_bf16_weights_grow_eightfold_in_training_not_two_to_fourfold():
    assert bytes_per_parameter("mixed_bf16").amount / PRECISIONS["mixed_bf16"].weights == 8


def test_optimizers_differ_in_their_states_alone():
    states = {key: bytes_per_parameter("fp32", key).child("optimizer").amount for key in OPTIMIZERS}
    assert states["sgd"] == 0
    assert states["momentum"] == states["adagrad"] == states["rmsprop"] == states["muon"] == 4
    assert states["adam"] == states["adamw"] == 8
    assert states["adam8bit"] == 2 + 8 / 256
    assert states["adafactor"] == 4 * 2048 / 1024**2
