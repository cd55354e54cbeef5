"""Exact over 6ND: where the context makes the rule wrong."""

from dataclasses import replace

import pytest

from core.budget.catalogue.models import MODELS
from core.budget.compute.forward_flops import forward_flops, is_scores
from core.budget.compute.six_nd import CONTEXTS, crossing, six_nd_ratio

# Context at which causal attention equals all other products, in thousands of tokens.
CROSSINGS = {
    "gpt2": 13,
    "gpt2-xl": 20,
    "llama-2-7b": 50,
    "llama-3.1-8b": 57,
    "qwen2.5-7b": 70,
    "llama-3.1-70b": 106,
    "llama-3.1-405b": 196,
}


def test_attention_overtakes_the_matrices_where_the_reference_says():
    for key, thousands in CROSSINGS.items():
        assert crossing(MODELS[key]).amount / 1000 == pytest.approx(thousands, rel=0.035), key


def test_the_ratio_grows_with_the_context_and_full_attention_is_never_below_causal():
    for key, spec in MODELS.items():
        causal = [six_nd_ratio(spec, context, causal=True).amount for context in CONTEXTS]
        full = [six_nd_ratio(spec, context, causal=False).amount for context in CONTEXTS]
        assert causal == sorted(causal), key
        assert all(a <= b for a, b in zip(causal, full, strict=True)), key


def test_a_mixture_is_held_against_its_active_parameters():
    ratio = six_nd_ratio(MODELS["mixtral-8x7b"], 1024, causal=True)
    assert ratio.amount == pytest.approx(1, abs=0.03)
    assert ratio.values["num_params"] == 12_879_925_248


def share_of_scores(spec, context):
    forward = forward_flops(spec, context, context, causal=True)
    scores = sum(part.amount for part in forward.children if is_scores(part))
    return scores / (forward.amount - scores)


def test_where_windows_hold_the_scores_down_the_crossing_is_later_or_never():
    mistral, gemma = MODELS["mistral-7b-v0.1"], MODELS["gemma-2-9b"]
    assert crossing(mistral) is None
    assert share_of_scores(mistral, 2**20) < 1

    wide = replace(mistral, window=32_000)
    for spec in (gemma, wide, MODELS["llama-3.1-8b"]):
        assert share_of_scores(spec, round(crossing(spec).amount)) == pytest.approx(1, rel=1e-4)
