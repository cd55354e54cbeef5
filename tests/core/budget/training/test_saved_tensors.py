"""Which parts of a block a model has; and small random models of every kind, for other tests."""

import random
from dataclasses import replace

from core.budget.catalogue.models import MODELS
from core.budget.item import Formula
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.saved_tensors import ROWS, saved_tensors
from core.models.spec import LatentAttention, Mixture, ModelSpec

KINDS = ("gpt2", "llama", "qwen", "gemma", "mixture", "latent", "latent mixture")


def random_spec(dice: random.Random, kind: str) -> ModelSpec:
    """Return a model of that kind with four layers."""
    heads, head_dim = dice.choice([2, 4, 8]), dice.choice([8, 16, 32])
    is_gpt, is_latent = kind == "gpt2", "latent" in kind
    divisors = [number for number in (1, 2, 4, 8) if heads % number == 0]
    return ModelSpec(
        name=kind,
        num_layers=4,
        hidden_dim=dice.choice([32, 64, 96]),
        num_heads=heads,
        num_kv_heads=heads if is_gpt or is_latent else dice.choice(divisors),
        head_dim=head_dim,
        ffn_dim=dice.choice([64, 100, 160]),
        vocab_size=dice.choice([97, 256]),
        seq_len=4096,
        tied=dice.random() < 0.5,
        gated=not is_gpt,
        norm="layer" if is_gpt else "rms",
        norm_bias=is_gpt,
        norms_per_layer=4 if kind == "gemma" else 2,
        attention_bias="all" if is_gpt else dice.choice(["none", "qkv"]),
        ffn_bias=is_gpt,
        qk_norm=kind == "qwen",
        learned_positions=4096 if is_gpt else 0,
        mixture=Mixture(
            num_experts=dice.choice([4, 6, 8]),
            experts_per_token=dice.choice([1, 2, 3]),
            expert_dim=dice.choice([16, 48]),
            num_shared=dice.choice([0, 1, 2]),
        )
        if "mixture" in kind
        else None,
        latent=LatentAttention(
            query_rank=dice.choice([0, 24]),
            kv_rank=16,
            nope_dim=head_dim,
            rope_dim=8,
            value_dim=dice.choice([head_dim, head_dim + 8]),
        )
        if is_latent
        else None,
    )


def random_recipe(dice: random.Random, profile: str, precision: str) -> TrainingRecipe:
    """Return a small recipe with that profile and precision, adapters now and then."""
    recipe = TrainingRecipe(
        batch_size=dice.choice([1, 2, 3]),
        seq_len=dice.choice([8, 16, 24]),
        precision=precision,
        profile=profile,
        checkpointing=dice.choice(["none", "none", "selective", "full", "every_k"]),
        checkpoint_every=dice.choice([1, 2, 3]),
    )
    if precision in {"fp32", "autocast_bf16"} or dice.random() < 0.6:  # frozen ones have 16 bits
        return recipe
    targets = dice.sample(["q", "k", "v", "gate", "up", "down"], dice.randint(0, 3))
    return replace(recipe, lora=LoRA(rank=dice.choice([2, 8]), targets=("o", *targets)))


def test_parts_are_those_of_the_architecture():
    assert list(saved_tensors(MODELS["gpt2"], "fused")) == ["norms", "attention", "feed-forward"]
    assert list(saved_tensors(MODELS["mixtral-8x7b"], "fused")) == ["norms", "attention", "experts"]
    deepseek = saved_tensors(MODELS["deepseek-v3"], "fused")
    assert list(deepseek) == ["norms", "attention", "feed-forward", "experts"]


def test_every_row_is_a_formula_with_a_tensor_and_an_operation():
    for row in (row for rows in ROWS.values() for row in rows):
        assert row.what, row
        assert row.op, row
        size = row.size.format(width="ffn_dim", wide="2 * ffn_dim")
        assert Formula(size).text == size
