from dataclasses import replace

import pytest

from core.budget.recipe import LoRA
from core.budget.simulation.cases import check_case, read_case, write_case
from core.models.spec import LatentAttention, Mixture
from tests.core.budget.simulation.test_prepared import LLAMA, recipe

EXPERTS = replace(LLAMA, mixture=Mixture(num_experts=4, experts_per_token=2, expert_dim=64))


def test_what_is_written_is_read():
    latent = LatentAttention(query_rank=32, kv_rank=16, nope_dim=16, rope_dim=8, value_dim=16)
    for case in (
        (LLAMA, recipe(lora=LoRA(targets=("q", "up")))),
        (replace(EXPERTS, latent=latent), recipe()),
    ):
        assert read_case(write_case(*case)) == case


def test_what_cannot_be_simulated_is_a_sentence():
    with pytest.raises(
        ValueError, match="No optimizer of torch keeps fp32 moments for bf16 weights"
    ):
        check_case(LLAMA, recipe(precision="cs336_12"))
    with pytest.raises(ValueError, match="frozen weights of LoRA in 16 bits"):
        check_case(LLAMA, recipe(lora=LoRA()))
    with pytest.raises(ValueError, match="no autocast for experts"):
        check_case(EXPERTS, recipe(precision="autocast_bf16"))
    with pytest.raises(ValueError, match="profile is 'mine'; use one of"):
        check_case(LLAMA, recipe(profile="mine"))
