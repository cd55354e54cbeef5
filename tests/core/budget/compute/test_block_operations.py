"""The operations of a block: their FLOPs add up to the forward pass, their bytes to its weights."""

import pytest

from core.budget.catalogue.models import MODELS
from core.budget.compute.block_operations import op_intensities
from core.budget.compute.forward_flops import forward_flops
from core.budget.weights.parameters import counts
from tests.core.budget.refusals import refused

PRODUCTS_LEFT_OUT = {"norm", "rotary positions", "residual sum", "SwiGLU", "GELU"}


def by_name(key, context, **options):
    return {each.name: each for each in op_intensities(MODELS[key], context, **options)}


def test_products_of_a_block_are_those_of_the_forward_pass():
    for key, spec in MODELS.items():
        if spec.num_windowed_layers == spec.num_layers:
            continue  # their scores stop at the window, the whole square does not
        operations = by_name(key, 512, batch_size=2)
        head = operations.pop("head").flops.amount
        layers = spec.num_expert_layers or spec.num_layers
        mine = sum(o.flops.amount for n, o in operations.items() if n not in PRODUCTS_LEFT_OUT)
        forward = forward_flops(spec, 1024, 512)
        dense = 0 if layers == spec.num_layers else forward.child("feed-forward").amount
        attention = ("attention projections", "attention scores")
        names = (*attention, "index projections", "index scores") if spec.indexer else attention
        shared = sum(forward.child(name).amount for name in names)
        rest = forward.amount - forward.child("head").amount - shared - dense
        assert head == forward.child("head").amount, key
        assert mine == shared // spec.num_layers + rest // layers, key


def test_decoding_one_token_reads_every_weight_of_a_block_once():
    for key in ("gpt2", "llama-2-7b", "llama-3.1-8b", "gemma-2-9b", "deepseek-v3"):
        spec = MODELS[key]
        skipped = PRODUCTS_LEFT_OUT | {"head", "attention"}
        operations = by_name(key, 1, phase="decode").items()
        moved = sum(o.moved.amount for n, o in operations if n not in skipped)
        count = counts(spec)
        weights = (count.attention - count.biases) / spec.num_layers
        if spec.mixture is None:
            weights = count.matrices / spec.num_layers
        else:
            experts = count.experts * spec.mixture.experts_per_token / spec.mixture.num_experts
            weights += (experts + count.shared_experts + count.router) / spec.num_expert_layers
        assert moved / 2 == pytest.approx(weights, rel=0.01), key


def test_decoding_is_bound_by_memory_and_a_long_prefill_is_not():
    decode, prefill = (
        by_name("llama-3.1-8b", 4096, phase=phase) for phase in ("decode", "prefill")
    )
    for name in ("queries, keys, values", "gate and up", "down", "head"):
        assert decode[name].intensity.amount == pytest.approx(1, rel=1e-2)
        assert prefill[name].intensity.amount > 1000


def test_attention_of_one_new_token_does_as_many_flops_a_byte_as_heads_share_a_key():
    for key, heads_to_a_key in (("llama-2-7b", 1), ("llama-3.1-8b", 4), ("qwen3-32b", 8)):
        attention = by_name(key, 100_000, phase="decode")["attention"]
        assert attention.intensity.amount == pytest.approx(heads_to_a_key, rel=1e-3)
    latent = by_name("deepseek-v3", 100_000, phase="decode")["attention"]
    assert latent.intensity.amount > 200


def test_a_batch_raises_the_intensity_of_weights_but_not_of_the_cache():
    one, many = (by_name("llama-3.1-8b", 4096, phase="decode", batch_size=size) for size in (1, 64))
    assert many["down"].intensity.amount > 50 * one["down"].intensity.amount
    assert many["attention"].intensity.amount == one["attention"].intensity.amount


def test_experts_read_those_that_are_chosen_and_all_of_them_in_a_large_batch():
    spec = MODELS["mixtral-8x7b"]
    expert = 3 * spec.hidden_dim * spec.mixture.expert_dim
    one = by_name("mixtral-8x7b", 1, phase="decode")["experts"].moved.amount
    many = by_name("mixtral-8x7b", 1, phase="decode", batch_size=1000)["experts"].moved.amount
    assert one / 2 == pytest.approx(2 * expert, rel=1e-3)
    assert many / 2 == pytest.approx(8 * expert, rel=0.02)


def test_a_window_caps_the_keys_that_are_read():
    inside, beyond = (
        by_name("mistral-7b-v0.1", context, phase="decode")["attention"].moved.amount
        for context in (4096, 32_768)
    )
    assert inside == beyond


def test_what_cannot_be_is_refused():
    refused("context is 0; it must lie between 1 and", op_intensities, MODELS["gpt2"], 0)
    refused("batch_size is 0", op_intensities, MODELS["gpt2"], 1, batch_size=0)
    with pytest.raises(ValueError, match="phase is 'train'; use one of: prefill, decode"):
        op_intensities(MODELS["gpt2"], 1, phase="train")
