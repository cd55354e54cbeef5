"""The FLOPs of serving: a prompt at once costs what its tokens one by one cost."""

from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from core.budget.catalogue.models import MODELS
from core.budget.serving.serving_flops import decode_flops, prefill_flops


def body(flops):
    """FLOPs without the head."""
    return flops.amount - flops.child("head").amount


def test_a_prompt_at_once_costs_what_its_tokens_one_by_one_cost():
    for name, spec in MODELS.items():
        if spec.latent is not None:
            continue
        small = replace(spec, window=5) if spec.window else spec
        for prompt_len in (1, 2, 9):
            one_by_one = sum(body(decode_flops(small, t + 1, 1)) for t in range(prompt_len))
            assert body(prefill_flops(small, prompt_len)) == one_by_one, (name, prompt_len)


def test_the_head_is_computed_for_the_last_token_of_a_prompt_and_for_each_sequence():
    spec = MODELS["llama-3.1-8b"]
    one = 2 * spec.hidden_dim * spec.vocab_size

    assert prefill_flops(spec, 1000).child("head").amount == one
    assert decode_flops(spec, 1000, 7).child("head").amount == 7 * one


def test_scores_of_latent_attention_are_those_of_absorbed_projections():
    spec = MODELS["deepseek-v3"]
    latent, context, concurrency = spec.latent, 20, 3
    heads, width = spec.num_heads, latent.kv_rank
    queries = torch.empty(concurrency, heads, 1, width + latent.rope_dim, device="meta")
    cache = torch.empty(concurrency, context, width + latent.rope_dim, device="meta")

    with FlopCounterMode(display=False) as counter:
        scores = torch.matmul(queries, cache.unsqueeze(1).transpose(-1, -2))
        torch.matmul(scores, cache[..., :width].unsqueeze(1))

    ours = decode_flops(spec, context, concurrency).child("attention scores").amount
    assert ours == spec.num_layers * counter.get_total_flops()


def test_sequences_multiply_and_windows_cap():
    for name, spec in MODELS.items():
        assert decode_flops(spec, 100, 8).amount == 8 * decode_flops(spec, 100, 1).amount, name
    mistral = MODELS["mistral-7b-v0.1"]
    assert decode_flops(mistral, 4096, 1).amount == decode_flops(mistral, 30_000, 1).amount
    with pytest.raises(ValueError, match="num_tokens is 0; it must lie between 1"):
        prefill_flops(mistral, 0)
