"""The closed form against the simulated step, on a seeded grid of random models and recipes."""

import random
from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.catalogue.optimizers import OPTIMIZERS
from core.budget.catalogue.profiles import PROFILES
from core.budget.cluster import Cluster
from core.budget.recipe import CHECKPOINTING, STEP_KINDS, TrainingRecipe
from core.budget.simulation.cases import SIMULATED
from core.budget.simulation.step import simulate_step
from core.budget.training.memory import allocated, training_budget
from core.budget.weights.parameters import counts
from core.models.spec import ModelSpec

ONE = Cluster(device=DEVICES["h100-sxm"])
LARGE = (
    "gpt2", "gpt2-xl", "gpt-3-175b", "llama-2-7b", "llama-2-13b", "llama-3.1-8b", "llama-3.1-70b",
    "llama-3.2-1b", "mistral-7b-v0.1", "qwen2.5-0.5b", "qwen2.5-7b", "qwen3-8b", "gemma-2-9b",
    "phi-3-mini", "phi-4", "mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v3",
)  # fmt: skip
TINY = ModelSpec(
    name="tiny Llama", num_layers=3, hidden_dim=64, num_heads=4, num_kv_heads=2, head_dim=16,
    ffn_dim=172, vocab_size=256, seq_len=256,
)  # fmt: skip
TEN_MILLION = ModelSpec(
    name="GPT 10M", num_layers=6, hidden_dim=384, num_heads=6, num_kv_heads=6, head_dim=64,
    ffn_dim=1536, vocab_size=256, seq_len=256, tied=True, gated=False, norm="layer", norm_bias=True,
    attention_bias="all", ffn_bias=True, learned_positions=1024,
)  # fmt: skip
RECIPES_A_SEED = 50
WITHIN_ONE_PERCENT = 0.94


def random_model(rng: random.Random) -> ModelSpec:
    """Return a small model, or one of the catalogue's widths with a few of its layers.

    Each further layer adds the same bytes to the closed form and to the simulation, so that a few
    show the most of what a layer needs for a moment.
    """
    num_layers = rng.choice((2, 2, 2, 3))
    if rng.random() < 0.25:
        small = rng.choice((TINY, TEN_MILLION))
        return replace(small, num_layers=num_layers, vocab_size=rng.choice((256, 5000)))
    spec = MODELS[rng.choice(LARGE)]
    dense = min(1, spec.mixture.num_dense_layers) if spec.mixture else 0
    mixture = spec.mixture and replace(spec.mixture, num_dense_layers=dense)
    return replace(spec, num_layers=num_layers, num_windowed_layers=0, mixture=mixture)


def random_recipe(rng: random.Random, spec: ModelSpec) -> TrainingRecipe:
    """Return a recipe for one device; experts have no autocast to be simulated with."""
    small = spec.hidden_dim < 500
    lengths = (128, 256) if small else (256, 512, 1024)
    if not small and not spec.learned_positions:
        lengths = (512, 1024, 2048, 4096)
    precisions = [key for key in SIMULATED if not (key == "autocast_bf16" and spec.mixture)]
    return TrainingRecipe(
        batch_size=rng.choice((1, 2, 4, 8) if small else (1, 2)),
        seq_len=rng.choice(lengths),
        accumulation=rng.choice((1, 1, 1, 2)),
        precision=rng.choice(precisions),
        optimizer=rng.choice(tuple(OPTIMIZERS)),
        step_kind=rng.choice(STEP_KINDS),
        checkpointing=rng.choice(CHECKPOINTING),
        checkpoint_every=rng.randint(1, 3),
        profile=rng.choice(tuple(PROFILES)),
        loss_chunks=rng.choice((1, 1, 2, 4)),
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_no_peak_leaves_its_band_and_nearly_all_are_within_a_hundredth(seed):
    """50 recipes a seed. Of those with autocast and checkpointing it once missed 28.7 %."""
    rng = random.Random(seed)  # noqa: S311  a grid, no secret
    close = 0
    for _each in range(RECIPES_A_SEED):
        spec = random_model(rng)
        recipe = random_recipe(rng, spec)
        closed = allocated(training_budget(spec, recipe, ONE).item)
        simulated = simulate_step(spec, recipe).peak
        # one tensor more is seen in small models
        below, above = (0.02, 0.05) if counts(spec).total < 50_000_000 else (0.01, 0.03)
        assert (1 - below) * closed <= simulated <= (1 + above) * closed, (spec.name, recipe)
        close += abs(closed / simulated - 1) <= 0.01
    assert close >= WITHIN_ONE_PERCENT * RECIPES_A_SEED
