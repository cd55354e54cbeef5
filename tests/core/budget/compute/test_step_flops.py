"""Step FLOPs: equal to torch's FlopCounterMode on our modules, however they are run."""

from dataclasses import replace

import pytest

from core.budget.catalogue.models import MODELS
from core.budget.catalogue.profiles import PROFILES
from core.budget.compute.forward_flops import forward_flops
from core.budget.compute.step_flops import model_flops, step_flops
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.weights.parameters import counts
from core.models.spec import LatentAttention, Mixture, ModelSpec
from tests.core.budget.random_budgets import check_tree
from tests.core.budget.refusals import refused
from tests.core.budget.simulation.test_counts import counted_flops

SIZES = {
    "name": "small", "num_layers": 3, "hidden_dim": 64, "num_heads": 4, "num_kv_heads": 2,
    "head_dim": 16, "ffn_dim": 160, "vocab_size": 100, "seq_len": 64,
}  # fmt: skip
PLAIN = {"gated": False, "learned_positions": 64, "norm": "layer", "norm_bias": True, "tied": True}
BIASED = {"attention_bias": "all", "ffn_bias": True}
EXPERTS = Mixture(num_experts=4, experts_per_token=2, expert_dim=32)
SHARED = replace(EXPERTS, num_shared=1, num_dense_layers=1)
LATENT = LatentAttention(query_rank=24, kv_rank=20, nope_dim=16, rope_dim=8, value_dim=16)
SPECS = {
    "llama": ModelSpec(**SIZES),
    "gpt-2": ModelSpec(**SIZES, **PLAIN, **BIASED),
    "gemma": ModelSpec(**SIZES, norms_per_layer=4, window=16, num_windowed_layers=2),
    "qwen": ModelSpec(**{**SIZES, "head_dim": 32}, qk_norm=True, attention_bias="qkv"),
    "olmo": ModelSpec(**SIZES, qk_norm=True, qk_norm_over="all heads"),
    "mixture": ModelSpec(**SIZES, mixture=EXPERTS),
    "gpt-oss": ModelSpec(
        **SIZES, mixture=replace(EXPERTS, bias=True), sinks=True, attention_bias="all"
    ),
    "maverick": ModelSpec(**SIZES, mixture=replace(SHARED, num_dense_layers=2, alternating=True)),
    "latent": ModelSpec(**SIZES, latent=replace(LATENT, query_rank=0)),
    "deepseek": ModelSpec(**SIZES, mixture=SHARED, latent=LATENT),
}
RECIPE = TrainingRecipe(batch_size=2, seq_len=32)
RECIPES = [
    *(replace(RECIPE, profile=name) for name in ("fused", "megatron")),
    replace(RECIPE, checkpointing="selective"),
    replace(RECIPE, checkpointing="selective", profile="megatron"),
    replace(RECIPE, checkpointing="full"),
    replace(RECIPE, checkpointing="full", profile="megatron"),
    replace(RECIPE, checkpointing="every_k", checkpoint_every=2, loss_chunks=2),
]
ADAPTED = [
    LoRA(targets=("q", "v", "o")),
    LoRA(targets=("o",), rank=3),
    LoRA(targets=("q", "k", "v", "o", "gate", "up", "down")),
    LoRA(targets=("o", "down"), base_format="nf4"),
]


def counted(spec, recipe):
    found = counted_flops(spec, recipe)
    assert found.unknown == []
    return found.forward + found.backward + found.recompute


@pytest.mark.slow
def test_closed_form_is_flop_counter_mode_for_every_architecture_and_checkpointing():
    for name, spec in SPECS.items():
        for recipe in RECIPES:
            assert step_flops(spec, recipe).amount == counted(spec, recipe), (name, recipe)


def test_closed_form_is_flop_counter_mode_for_every_profile():
    for profile in PROFILES:
        recipe = replace(RECIPE, profile=profile)
        assert step_flops(SPECS["qwen"], recipe).amount == counted(SPECS["qwen"], recipe), profile


@pytest.mark.slow
def test_closed_form_is_flop_counter_mode_with_adapters():
    for name, spec in SPECS.items():
        for number, lora in enumerate(ADAPTED):
            way = {"checkpointing": "full"} if number % 2 else {"profile": "megatron"}
            recipe = replace(RECIPE, lora=lora, **way)
            assert step_flops(spec, recipe).amount == counted(spec, recipe), (name, recipe)


@pytest.mark.slow
def test_every_row_of_the_catalogue_is_counted_exactly_with_fewer_layers():
    recipe = TrainingRecipe(
        batch_size=8, seq_len=240
    )  # routed rows of every mixture need no padding
    for key, row in MODELS.items():
        layers = 1 + (row.num_dense_layers if row.mixture else 1)
        windowed = min(row.num_windowed_layers, 1)
        # torch's kernels attend to every token, so that an indexer's picks are counted elsewhere
        spec = replace(
            row, num_layers=layers, num_windowed_layers=windowed, indexer=None, num_mtp_layers=0
        )
        if row.mixture and row.mixture.alternating:
            mixture = replace(row.mixture, num_dense_layers=1)
            spec = replace(spec, num_layers=2, mixture=mixture)
        assert step_flops(spec, recipe).amount == counted(spec, recipe), key


def test_full_checkpointing_of_llama_2_7b_costs_1_469_times_6nd_and_none_1_166():
    spec = MODELS["llama-2-7b"]
    for checkpointing, want in (("none", 1.166), ("selective", 1.166), ("full", 1.469)):
        recipe = TrainingRecipe(seq_len=4096, checkpointing=checkpointing)
        ratio = step_flops(spec, recipe).amount / (6 * counts(spec).total * 4096)
        assert ratio == pytest.approx(want, abs=5e-4), checkpointing


def test_every_line_is_its_formula_with_its_numbers():
    for spec in SPECS.values():
        for recipe in [*RECIPES, *(replace(RECIPE, lora=lora) for lora in ADAPTED)]:
            check_tree(step_flops(spec, recipe))


def test_multi_token_prediction_is_a_line_of_training_and_of_nothing_else():
    """DeepSeek-V3 at 4,096 tokens: 260.0 GFLOP a token published (Megatron Bridge), causal."""
    spec, recipe = MODELS["deepseek-v3"], TrainingRecipe(seq_len=4096)
    without = replace(spec, num_mtp_layers=0)
    whole, plain = (model_flops(step_flops(each, recipe, causal=True)) for each in (spec, without))
    assert plain.amount / 4096 == pytest.approx(250.46e9, rel=1e-4)
    assert whole.amount / 4096 == pytest.approx(260.02e9, rel=3e-3)
    line = whole.child("forward").child("multi-token prediction")
    assert whole.amount - plain.amount == 3 * line.amount
    each = 2 * (7168 * (256 + 129_280 + 2 * 7168) + 9 * 3 * 7168 * 2048)
    attention = 7168 * 1536 + 1536 * 128 * 192 + 7168 * 576 + 512 * 128 * 256 + 128 * 128 * 7168
    pairs = 4097 * 128 * (192 + 128)
    assert line.amount == 4096 * (each + 2 * attention + pairs)
    adapted = replace(recipe, lora=LoRA(targets=("o",)))
    assert step_flops(spec, adapted).amount == step_flops(without, adapted).amount
    assert forward_flops(spec, 64, 64) == forward_flops(without, 64, 64)
    for way in (recipe, replace(recipe, checkpointing="full"), replace(recipe, loss_chunks=4)):
        check_tree(step_flops(spec, way))
        ratio = step_flops(spec, way).amount / step_flops(without, way).amount
        assert 1.03 < ratio < 1.05, way


def test_adapters_that_find_nothing_to_adapt_are_refused():
    recipe = replace(RECIPE, lora=LoRA(targets=("q", "v")))
    refused("small has no matrices q, v to adapt; add o", step_flops, SPECS["latent"], recipe)
