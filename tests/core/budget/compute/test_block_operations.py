"""A model's operations: their FLOPs add up to the forward pass, their bytes to its weights."""

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.compute.block_operations import op_intensities
from core.budget.compute.forward_flops import forward_flops
from core.budget.compute.intensity import together
from core.budget.weights.parameters import counts
from tests.core.budget.refusals import refused

LEFT_OUT = {"norm", "rotary positions", "residual sum", "SwiGLU", "GELU"}


def by_name(key, context, **options):
    return {each.name: each for each in op_intensities(MODELS[key], context, **options)}


def test_products_of_all_blocks_and_the_head_are_those_of_the_forward_pass():
    for key, spec in MODELS.items():  # 64 tokens: within every window
        operations = by_name(key, 64, batch_size=2).values()
        products = sum(o.flops.amount * o.times for o in operations if o.name not in LEFT_OUT)
        assert products == forward_flops(spec, 128, 64).amount, key


def test_decoding_one_token_reads_every_weight_once():
    for key in ("gpt2", "llama-2-7b", "llama-3.1-8b", "gemma-2-9b", "deepseek-v3"):
        spec = MODELS[key]
        skipped = LEFT_OUT | {"head", "attention"}
        operations = by_name(key, 1, phase="decode").values()
        moved = sum(o.moved.amount * o.times for o in operations if o.name not in skipped)
        count = counts(spec)
        weights = count.matrices
        if spec.mixture is not None:
            share = spec.mixture.experts_per_token / spec.mixture.num_experts
            weights -= count.experts * (1 - share)
        assert moved / 2 == pytest.approx(weights, rel=0.01), key


def test_all_blocks_and_the_head_bound_what_decoding_reaches():
    device = DEVICES["h200-sxm"]
    for key, batch_size, context, percent in (
        ("qwen3-0.6b", 128, 512, 8.98),  # one block beside the whole head would say 32.6
        ("qwen3-32b", 32, 4096, 11.3),  # 13.4
        ("llama-3.1-8b", 1, 4096, 0.535),  # 0.501, which is exceeded: it would be no bound
        ("gemma-2-9b", 8, 32_768, 1.747),  # by hand: half of the layers read 4,096 tokens only
    ):
        operations = op_intensities(MODELS[key], context, batch_size=batch_size, phase="decode")
        share = together(operations, device.peak["bfloat16"], device.bandwidth)
        assert 100 * share.amount == pytest.approx(percent, rel=5e-3), key


def test_attention_of_one_new_token_does_as_many_flops_a_byte_as_heads_share_a_key():
    for key, heads_to_a_key in (("llama-2-7b", 1), ("llama-3.1-8b", 4), ("qwen3-32b", 8)):
        attention = by_name(key, 100_000, phase="decode")["attention"]
        assert attention.intensity.amount == pytest.approx(heads_to_a_key, rel=1e-3)
    latent = by_name("deepseek-v3", 100_000, phase="decode")["attention"]
    assert latent.intensity.amount > 200


def test_experts_read_those_that_are_chosen_and_all_of_them_in_a_large_batch():
    spec = MODELS["mixtral-8x7b"]
    expert = 3 * spec.hidden_dim * spec.mixture.expert_dim
    one = by_name("mixtral-8x7b", 1, phase="decode")["experts"].moved.amount
    many = by_name("mixtral-8x7b", 1, phase="decode", batch_size=1000)["experts"].moved.amount
    assert one / 2 == pytest.approx(2 * expert, rel=1e-3)
    assert many / 2 == pytest.approx(8 * expert, rel=0.02)


def test_a_window_caps_the_keys_that_are_read_in_the_layers_that_have_it():
    inside = by_name("mistral-7b-v0.1", 4096, phase="decode")["attention"]
    beyond = by_name("mistral-7b-v0.1", 32_768, phase="decode")
    assert inside.moved.amount == beyond["sliding-window attention"].moved.amount
    assert "attention" not in beyond
    mixed = by_name("gemma-2-9b", 32_768, phase="decode")
    assert mixed["attention"].times == mixed["sliding-window attention"].times == 21


def test_what_cannot_be_is_refused():
    refused("context is 0; it must lie between 1 and", op_intensities, MODELS["gpt2"], 0)
    refused("batch_size is 0", op_intensities, MODELS["gpt2"], 1, batch_size=0)
    with pytest.raises(ValueError, match="phase is 'train'; use one of: prefill, decode"):
        op_intensities(MODELS["gpt2"], 1, phase="train")
