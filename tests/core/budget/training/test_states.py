"""What stays from step to step: weights, optimizer, gradients, also of adapters."""

from core.budget.catalogue.models import MODELS
from core.budget.catalogue.optimizers import OPTIMIZERS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.share import Share, whole
from core.budget.training.activations import activation_sizes
from core.budget.training.states import (
    bytes_per_parameter,
    gradients,
    largest_by_states,
    optimizer,
    state_sizes,
    states_in_all,
    trained_parameters,
    weights,
)
from core.budget.weights.parameters import counts, share_counts
from core.units import GIB

ALL_LINEAR = ("q", "k", "v", "o", "gate", "up", "down")


def states(spec, recipe, share=None):
    share = share or whole(spec)
    held = share_counts(spec, share)
    sizes = activation_sizes(spec, recipe, share) | state_sizes(spec, recipe, share, held)
    parts = (weights(recipe, share, held, sizes), optimizer(recipe, sizes))
    return (*parts, gradients(recipe, sizes))


def test_zero_shards_optimizer_then_gradients_then_weights():
    spec = MODELS["llama-2-7b"]
    num_params = counts(spec).total
    for stage, expected in ((1, 4 + 12 / 64), (2, 2 + 14 / 64), (3, 16 / 64)):
        share = Share(
            num_layers=32,
            weight_shards=64 if stage == 3 else 1,
            gradient_shards=64 if stage >= 2 else 1,
            optimizer_shards=64,
        )
        parts = states(spec, TrainingRecipe(precision="mixed_bf16"), share)
        # Rajbhandari et al. 2020, figure 1
        assert abs(sum(part.amount for part in parts) / num_params - expected) < 1e-6, stage


def test_rank_8_adapters_of_a_768_square_matrix_have_12288_parameters():
    spec = MODELS["gpt2"]
    recipe = TrainingRecipe(precision="fp32", lora=LoRA(rank=8, targets=("q",)))
    _, _, gradient = states(spec, recipe)
    assert gradient.amount == 4 * 12 * 12_288  # 2.08 % of each matrix


def test_litgpts_rank_8_adapters_of_q_and_v_have_the_published_parameters():
    for key, expected in (("llama-2-7b", 4_194_304), ("llama-2-13b", 6_553_600)):
        recipe = TrainingRecipe(precision="pure_bf16", lora=LoRA(rank=8))
        assert states(MODELS[key], recipe)[2].amount == 2 * expected, key


def test_qlora_of_llama_2_70b_holds_about_33_gib_of_frozen_weights():
    lora = LoRA(rank=16, targets=ALL_LINEAR, base_format="nf4_double_quant")
    held, _, _ = states(MODELS["llama-2-70b"], TrainingRecipe(precision="pure_bf16", lora=lora))
    frozen = sum(part.amount for part in held.children if part.name != "adapters")
    num_matrices = counts(MODELS["llama-2-70b"]).matrices
    others = 2 * (counts(MODELS["llama-2-70b"]).total - num_matrices)
    assert abs(frozen - others - num_matrices * 4.127 / 8) / GIB < 0.01


def test_all_parameters_or_those_of_the_adapters_are_trained():
    spec = MODELS["llama-2-70b"]
    assert trained_parameters(spec, TrainingRecipe()) == counts(spec).total
    recipe = TrainingRecipe(lora=LoRA(rank=16, targets=ALL_LINEAR))
    assert trained_parameters(spec, recipe) == 207_093_760


def test_the_parts_add_up_to_the_named_recipe():
    for key, row in PRECISIONS.items():
        assert bytes_per_parameter(key).amount == row.with_adam, key


def test_the_states_of_a_model_are_its_parameters_times_the_bytes_of_one():
    for key in PRECISIONS:
        for model in ("gpt2", "llama-2-7b", "mixtral-8x7b", "deepseek-v3"):
            stored = states_in_all(MODELS[model], TrainingRecipe(precision=key)).amount
            each = bytes_per_parameter(key).amount
            assert stored == each * counts(MODELS[model]).total, (key, model)


def test_eight_times_80_gb_hold_40_billion_parameters_of_16_bytes_and_53_of_12():
    # CS336, lecture 2 of 2025, question 2; of 2026
    for precision, expected in (("mixed_bf16", 40_000_000_000), ("cs336_12", 53_333_333_333)):
        largest = largest_by_states(640e9, bytes_per_parameter(precision))
        assert largest.amount == expected, precision


def test_optimizers_differ_in_their_states_alone():
    states = {key: bytes_per_parameter("fp32", key).child("optimizer").amount for key in OPTIMIZERS}
    assert states["sgd"] == 0
    assert states["momentum"] == states["adagrad"] == states["rmsprop"] == states["muon"] == 4
    assert states["adam"] == states["adamw"] == 8
    assert states["adam8bit"] == 2 + 8 / 256
    assert states["adafactor"] == 4 * 2048 / 1024**2
