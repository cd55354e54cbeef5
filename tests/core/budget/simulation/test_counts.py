"""FLOPs and kept bytes as torch counts them, and that nothing goes uncounted."""

from dataclasses import replace

import torch

from core.budget.catalogue.models import MODELS
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.simulation.counts import MISSING, counted_flops, saved_bytes, saved_bytes_per_layer
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
    monkeypatch.setattr("core.budget.simulation.counts.MISSING", {})
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


def recipe_in_bf16(**changes) -> TrainingRecipe:
    return TrainingRecipe(precision="pure_bf16", profile="hf_eager", **changes)


def test_a_llama_layer_keeps_the_bytes_of_the_published_closed_form():
    # reference/budget.md C.3: T (20 h + 4 kv d + 8 f + 4 a + 8), to 64 bytes
    for key in ("llama-2-7b", "llama-3.1-8b", "llama-3.2-1b"):
        spec = MODELS[key]
        per_token = (
            20 * spec.hidden_dim
            + 4 * spec.num_kv_heads * spec.head_dim
            + 8 * spec.ffn_dim
            + 4 * spec.num_heads
            + 8
        )
        assert abs(saved_bytes_per_layer(spec, recipe_in_bf16(seq_len=512)) - 512 * per_token) <= 64


def test_korthikantis_layer_is_34_sbh_and_5_as2b():
    spec = replace(MODELS["gpt2"], name="a GPT layer")
    for seq_len in (128, 512):
        kept = saved_bytes_per_layer(
            spec, TrainingRecipe(precision="pure_bf16", profile="megatron", seq_len=seq_len)
        )
        published = 34 * seq_len * spec.hidden_dim + 5 * spec.num_heads * seq_len**2
        assert abs(kept / published - 1) < 0.005, seq_len


def test_checkpointing_keeps_less_and_full_only_the_input():
    kept = {
        mode: saved_bytes_per_layer(LLAMA, recipe_in_bf16(seq_len=64, checkpointing=mode))
        for mode in ("none", "selective", "full", "every_k")
    }
    assert kept["none"] > kept["selective"] > kept["full"]
    assert kept["full"] == kept["every_k"] == 2 * 64 * LLAMA.hidden_dim
    wider = recipe_in_bf16(seq_len=64, checkpointing="every_k", checkpoint_every=4)
    assert saved_bytes_per_layer(LLAMA, wider) == kept["full"] // 4


def test_adapters_keep_less_than_training_every_weight():
    whole, adapted = recipe_in_bf16(seq_len=64), recipe_in_bf16(seq_len=64, lora=LoRA())
    assert saved_bytes(LLAMA, adapted) < saved_bytes(LLAMA, whole)
