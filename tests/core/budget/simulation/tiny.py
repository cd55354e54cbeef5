"""Models small enough to really train in a test."""

from dataclasses import replace
from typing import Any

from core.budget.recipe import TrainingRecipe
from core.models.spec import ModelSpec

LLAMA = ModelSpec(
    name="tiny Llama",
    num_layers=3,
    hidden_dim=128,
    num_heads=4,
    num_kv_heads=2,
    head_dim=32,
    ffn_dim=340,
    vocab_size=500,
    seq_len=128,
)
GPT2 = replace(
    LLAMA,
    name="tiny GPT-2",
    num_kv_heads=4,
    ffn_dim=512,
    tied=True,
    gated=False,
    norm="layer",
    norm_bias=True,
    attention_bias="all",
    ffn_bias=True,
    learned_positions=128,
)


def recipe(**changes: Any) -> TrainingRecipe:
    """Return a recipe that this machine can run, on two sequences of 64 tokens."""
    small = {"batch_size": 2, "seq_len": 64, "precision": "fp32", "profile": "cpu"}
    return TrainingRecipe(**{**small, **changes})
