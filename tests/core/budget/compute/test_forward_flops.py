"""Forward FLOPs against the ratios of budget.md C.1 and against pairs counted one by one."""

from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from core.budget.catalogue.models import MODELS
from core.budget.compute.forward_flops import forward_flops, is_pairs
from core.budget.weights.parameters import counts
from core.models.attention import IndexScores
from tests.core.budget.refusals import refused

# Exact / 6ND for training (three times the forward pass) over the context, causal | full:
# two to four digits, as the table of the reference prints them.
KIB = 1024
RATIOS = {
    "gpt2": {1: (1.07, 1.14), 2: (1.14, 1.30), 4: (1.30, 1.60), 32: (3.4, 5.8), 128: (10.7, 20.4)},
    "gpt2-xl": {1: (1.05, 1.10), 4: (1.20, 1.40), 32: (2.6, 4.2), 128: (7.5, 14)},
    "llama-2-7b": {1: (1.00, 1.02), 4: (1.06, 1.14), 8: (1.14, 1.30), 128: (3.5, 6.1)},
    "llama-3.1-8b": {1: (0.95, 0.97), 8: (1.07, 1.20), 32: (1.47, 2.00), 128: (3.1, 5.2)},
    "qwen2.5-7b": {1: (0.94, 0.96), 4: (0.98, 1.04), 32: (1.36, 1.79), 128: (2.7, 4.4)},
    "llama-3.1-70b": {1: (0.995, 1.00), 8: (1.06, 1.14), 32: (1.29, 1.59), 128: (2.2, 3.4)},
    "llama-3.1-405b": {1: (1.00, 1.005), 8: (1.04, 1.08), 32: (1.16, 1.33), 128: (1.7, 2.3)},
}


def ratio(key, seq_len, *, causal):
    spec = MODELS[key]
    forward = forward_flops(spec, seq_len, seq_len, causal=causal).amount
    return 3 * forward / (6 * counts(spec).total * seq_len)


def test_exact_flops_over_6nd_are_those_of_the_reference_table():
    for key, row in RATIOS.items():
        for length, printed in row.items():
            for causal, want in zip((True, False), printed, strict=True):
                got = ratio(key, length * KIB, causal=causal)
                assert got == pytest.approx(want, rel=0.03), (key, length, causal)


def test_causal_scores_with_a_window_count_the_pairs_that_the_mask_lets_through():
    base = MODELS["gemma-2-9b"]
    for seq_len in (1, 2, 7, 16, 33):
        for window in (1, 4, 16, 100):
            spec = replace(base, window=window, num_windowed_layers=20)
            pairs = [
                sum(max(0, i - w + 1) <= j <= i for i in range(seq_len) for j in range(seq_len))
                for w in (window, seq_len)
            ]
            widths = 2 * 2 * spec.num_heads * spec.head_dim
            forward = forward_flops(spec, 3 * seq_len, seq_len, causal=True)
            assert forward.child("windowed scores").amount == 3 * 20 * pairs[0] * widths
            assert forward.child("attention scores").amount == 3 * 22 * pairs[1] * widths


def test_causal_scores_in_chunks_count_the_pairs_that_lie_in_one_chunk():
    for window in (1, 3, 8, 20):
        spec = replace(MODELS["llama-4-scout"], window=window)
        for seq_len in (1, 7, 8, 20):
            pairs = sum(i // window == j // window for i in range(seq_len) for j in range(i + 1))
            widths = 2 * 2 * spec.num_heads * spec.head_dim
            forward = forward_flops(spec, 5 * seq_len, seq_len, causal=True)
            assert forward.child("windowed scores").amount == 5 * 36 * pairs * widths
            whole = seq_len * (seq_len + 1) // 2
            assert forward.child("attention scores").amount == 5 * 12 * whole * widths


def test_an_indexer_scores_every_pair_and_attention_the_picked_ones():
    spec = MODELS["deepseek-v3.2"]
    spec = replace(spec, indexer=replace(spec.indexer, top_k=6))
    latent, heads = spec.latent, spec.indexer.num_heads
    for seq_len in (1, 5, 6, 20):
        forward = forward_flops(spec, 2 * seq_len, seq_len, causal=True)
        picked = sum(min(i + 1, 6) for i in range(seq_len))
        widths = latent.nope_dim + latent.rope_dim + latent.value_dim
        assert forward.child("attention scores").amount == 2 * 61 * picked * 2 * 128 * widths
        pairs = seq_len * (seq_len + 1) // 2
        assert forward.child("index scores").amount == 2 * 61 * pairs * 2 * heads * 128


def test_what_an_indexer_costs_is_what_torch_counts_in_its_module():
    spec = MODELS["deepseek-v3.2"]
    with torch.device("meta"):
        scores = IndexScores(spec, spec.indexer, spec.latent.query_rank)
        x, narrow = torch.empty(2, 30, spec.hidden_dim), torch.empty(2, 30, spec.latent.query_rank)
    with FlopCounterMode(display=False) as counter:
        scores(x, narrow)
    forward = forward_flops(spec, 60, 30)
    ours = forward.child("index scores").amount + forward.child("index projections").amount
    assert counter.get_total_flops() * spec.num_layers == ours


def test_every_row_is_2_flops_for_each_active_weight_but_the_tables_plus_the_scores():
    for key, spec in MODELS.items():
        count = counts(spec)
        forward = forward_flops(spec, 1, 1)
        small = count.biases + count.norms + count.final_norm
        if spec.mixture is not None and spec.mixture.bias:  # idle ones are not active anyhow
            each = 2 * spec.mixture.expert_dim + spec.hidden_dim
            idle = spec.mixture.num_experts - spec.mixture.experts_per_token
            small += spec.num_layers * (spec.mixture.num_experts - idle * each)
        vectors = small + (0 if spec.tied else count.token_embedding) + count.positions
        scores = sum(part.amount for part in forward.children if is_pairs(part))
        assert forward.amount - scores == 2 * (count.active - vectors), key


def test_lengths_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="seq_len is 0; it must lie between 1 and 100,000,000"):
        forward_flops(MODELS["gpt2"], 1, 0)
    refused("num_tokens is -1", forward_flops, MODELS["gpt2"], -1, 1)
