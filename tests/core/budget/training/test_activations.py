"""The closed form of kept activations against the trace of the real modules on meta tensors."""

import random
from dataclasses import replace

import pytest

from core.budget.catalogue.models import MODELS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.catalogue.profiles import PROFILES
from core.budget.recipe import TrainingRecipe
from core.budget.share import Share, whole
from core.budget.training.activations import (
    activation_sizes,
    kept_list,
    layer_activations,
    outside_activations,
)
from core.budget.weights.parameters import share_counts
from tests.core.budget.simulation.test_counts import saved_bytes, saved_bytes_per_layer
from tests.core.budget.training.test_saved_tensors import KINDS, random_recipe, random_spec

TOLERANCE = 64  # bytes a layer: the flash kernel's seed and offset


def of_one_layer(spec, recipe):
    """Return the closed form of one layer: mean over a run of layers, autocast's copies in it."""
    layers = recipe.checkpoint_every if recipe.checkpointing == "every_k" else 1
    mixture = spec.mixture and replace(spec.mixture, num_dense_layers=0)
    part = replace(spec, num_layers=layers, mixture=mixture)
    sizes = activation_sizes(part, recipe, whole(part))
    num_bytes = sum(each.amount for each in layer_activations(part, recipe, sizes))
    keeps_copies = recipe.checkpointing == "none" or (
        recipe.checkpointing == "selective" and recipe.profile == "megatron"
    )
    if PRECISIONS[recipe.precision].copies and keeps_copies:
        num_bytes += 2 * share_counts(part, whole(part)).matrices
    return num_bytes / layers


@pytest.mark.slow
def test_what_a_layer_keeps_is_what_autograd_keeps_on_56_random_models():
    dice = random.Random(20)  # noqa: S311  the same models every time
    checked = 0
    for kind in KINDS:
        emulated = [] if "mixture" in kind else ["autocast_bf16"]  # no autocast for experts there
        for profile in PROFILES:
            for precision in dice.sample(["fp32", "pure_bf16", "mixed_bf16", *emulated], 2):
                spec = random_spec(dice, kind)
                recipe = random_recipe(dice, profile, precision)
                traced = saved_bytes_per_layer(spec, recipe)
                assert abs(of_one_layer(spec, recipe) - traced) <= TOLERANCE, (spec, recipe)
                checked += 1
    assert checked == 56


def test_a_norm_over_all_heads_keeps_one_number_a_token_and_biased_experts_keep_nothing_more():
    for key in ("olmo-2-7b", "gpt-oss-20b"):
        for profile in PROFILES:
            spec = replace(MODELS[key], num_windowed_layers=0)
            recipe = TrainingRecipe(seq_len=64, precision="pure_bf16", profile=profile)
            traced = saved_bytes_per_layer(spec, recipe)
            assert abs(of_one_layer(spec, recipe) - traced) <= TOLERANCE, (key, profile)


def test_gpt3_block_in_bf16_keeps_34_sbh_plus_5_as2b_as_korthikanti_counts():
    spec = replace(MODELS["gpt-3-175b"], num_layers=1)
    recipe = TrainingRecipe(batch_size=1, seq_len=2048, precision="pure_bf16", profile="megatron")
    parts = layer_activations(spec, recipe, activation_sizes(spec, recipe, whole(spec)))
    sbh = 2048 * spec.hidden_dim
    statistics = 2 * 8 * 2048  # mean and 1 / deviation in fp32, which the paper leaves out
    expected = 34 * sbh + 5 * spec.num_heads * 2048**2 + statistics
    assert sum(part.amount for part in parts) == expected


def test_llama_2_7b_keeps_45_66_sbh_in_hugging_faces_eager_form():
    spec = replace(MODELS["llama-2-7b"], num_layers=1)
    recipe = TrainingRecipe(seq_len=4096, precision="pure_bf16", profile="hf_eager")
    sizes = activation_sizes(spec, recipe, whole(spec))
    kept = sum(part.amount for part in layer_activations(spec, recipe, sizes))
    rotary = outside_activations(spec, recipe, _middle(), sizes).amount
    # the reference's number has the rotary angles of a one-layer model in it
    assert (kept + rotary) / (4096 * 4096) == pytest.approx(45.66, abs=0.005)


def kept_by(spec, recipe, share):
    sizes = activation_sizes(spec, recipe, share)
    return sum(part.amount for part in layer_activations(spec, recipe, sizes))


def _middle() -> Share:
    return Share(num_layers=1, has_embedding=False, has_head=False)


def test_sequence_parallel_ranks_share_what_lies_between_the_matrices_too():
    spec = replace(MODELS["gpt-3-175b"], num_layers=1)
    recipe = TrainingRecipe(seq_len=2048, precision="pure_bf16", profile="megatron")
    rank = replace(whole(spec), tensor=8)
    sharing = replace(rank, sequence_parallel=True)
    amounts = [kept_by(spec, recipe, each) for each in (whole(spec), rank, sharing)]
    sbh = 2048 * spec.hidden_dim
    scores = 5 * spec.num_heads * 2048**2
    statistics = 2 * 8 * 2048
    # Korthikanti et al. 2022, equations 2 and 4
    assert amounts[1] == sbh * (10 + 24 // 8) + scores // 8 + statistics
    assert amounts[2] == amounts[0] // 8


def test_what_is_kept_outside_the_blocks_is_what_a_model_leaves_beside_its_layers():
    for profile in PROFILES:
        for key in ("gpt2", "llama-3.2-1b"):
            spec = replace(MODELS[key], num_layers=2)
            recipe = TrainingRecipe(seq_len=32, precision="pure_bf16", profile=profile)
            beside = saved_bytes(spec, recipe) - 2 * saved_bytes_per_layer(spec, recipe)
            sizes = activation_sizes(spec, recipe, whole(spec))
            outside = outside_activations(spec, recipe, whole(spec), sizes).amount
            log_probabilities = 4 * 32 * spec.vocab_size
            positions = 8 * 32 if spec.learned_positions else 0
            total = outside + log_probabilities + positions
            assert abs(beside - total) <= 512, (profile, key, beside - total)


def test_the_tensors_of_a_layer_times_its_layers_are_the_line():
    spec = MODELS["deepseek-v3"]
    share = whole(spec)
    layers = {"feed-forward": 3, "experts": 58}
    for checkpointing in ("none", "selective", "full"):
        recipe = TrainingRecipe(checkpointing=checkpointing)
        sizes = activation_sizes(spec, recipe, share)
        for line in layer_activations(spec, recipe, sizes):
            tensors = kept_list(spec, recipe, share, line.name)
            one = sum(each.num_bytes for each in tensors)
            assert one * layers.get(line.name, 61) == line.amount, line.name


def test_what_is_made_again_is_listed_too():
    spec = MODELS["llama-2-7b"]
    recipe = TrainingRecipe(checkpointing="full")
    again = kept_list(spec, recipe, whole(spec), "attention", again=True)
    assert [each.what for each in again][:2] == ["input of q, k and v", "queries"]
    assert kept_list(spec, recipe, whole(spec), "attention") == ()
