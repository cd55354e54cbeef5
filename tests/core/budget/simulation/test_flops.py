from dataclasses import replace

import torch

from core.budget.simulation.flops import MISSING, counted_flops
from core.models.kernels import KERNELS
from core.models.spec import LatentAttention, Mixture
from tests.core.budget.simulation.test_prepared import GPT2, LLAMA, recipe

MIXTURE = Mixture(num_experts=4, experts_per_token=2, expert_dim=64, num_shared=1)
LATENT = LatentAttention(query_rank=32, kv_rank=16, nope_dim=16, rope_dim=8, value_dim=16)


def test_no_product_goes_uncounted_in_any_kind_of_model_and_profile():
    for spec in (LLAMA, GPT2, replace(LLAMA, mixture=MIXTURE), replace(LLAMA, latent=LATENT)):
        for profile in KERNELS:
            counted = counted_flops(spec, recipe(profile=profile, seq_len=16))
            assert counted.unknown == (), (spec, profile)
            assert counted.recompute == 0


def test_an_uncounted_product_would_be_named(monkeypatch):
    monkeypatch.setattr("core.budget.simulation.flops.MISSING", {})
    counted = counted_flops(LLAMA, recipe(seq_len=16))
    names = [f"aten._scaled_dot_product_flash_attention_for_cpu{end}" for end in ("", "_backward")]
    assert list(counted.unknown) == names


def test_matrix_products_cost_two_flops_a_weight_and_token_and_twice_that_back():
    counted = counted_flops(LLAMA, recipe())
    num_tokens, width = 128, LLAMA.hidden_dim
    heads = LLAMA.num_heads * 2 + LLAMA.num_kv_heads * 2
    layer = width * LLAMA.head_dim * heads + 3 * width * LLAMA.ffn_dim
    products = 2 * num_tokens * (LLAMA.num_layers * layer + width * LLAMA.vocab_size)
    attention = LLAMA.num_layers * 4 * num_tokens * 64 * LLAMA.num_heads * LLAMA.head_dim
    assert counted.forward == products + attention
    assert counted.backward == 2 * products + 5 * attention // 2
    assert sum(counted.operations.values()) == counted.forward + counted.backward


def test_what_checkpointing_runs_again_is_apart():
    plain = counted_flops(LLAMA, recipe())
    full = counted_flops(LLAMA, recipe(checkpointing="full"))
    assert (full.forward, full.backward) == (plain.forward, plain.backward)
    assert 0 < full.recompute < plain.forward
    assert counted_flops(LLAMA, recipe(checkpointing="selective")).recompute == 0
    assert counted_flops(LLAMA, recipe(loss_chunks=4)).recompute > 0


def test_registered_attention_counts_as_torchs_own_gpu_attention():
    from torch.utils.flop_counter import flop_registry

    aten = torch.ops.aten
    q, k = torch.Size((2, 4, 64, 32)), torch.Size((2, 4, 64, 32))
    cpu = MISSING[aten._scaled_dot_product_flash_attention_for_cpu](q, k, k)
    x = torch.empty(q, device="meta")
    assert cpu == flop_registry[aten._scaled_dot_product_flash_attention](x, x, x)
