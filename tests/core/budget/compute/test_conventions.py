"""MFU conventions against torchtitan's own figures."""

from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.compute.conventions import CONTEXTS, crossing, mfu_conventions, six_nd_ratio
from core.budget.compute.forward_flops import forward_flops, is_pairs
from core.budget.recipe import TrainingRecipe
from tests.core.budget.refusals import refused

RECIPE = TrainingRecipe(batch_size=2, seq_len=8192, checkpointing="selective", accumulation=3)
SPEC = MODELS["llama-3.1-8b"]


def shares(tokens_per_second, peak=989e12, recipe=RECIPE):
    found = mfu_conventions(SPEC, recipe, tokens_per_second, peak)
    return {item.name: item.amount for item in found}


def test_torchtitan_s_33_and_39_percent_are_full_attention():
    # torchtitan, docs/performance: Llama 3.1 8B on 8 H100, 5,762 and, compiled, 6,667 tokens/s.
    for speed, full, causal in ((5762, 0.337, 0.300), (6667, 0.390, 0.347)):
        got = shares(speed)
        assert got["full attention"] == pytest.approx(full, abs=5e-4)
        assert got["causal attention"] == pytest.approx(causal, abs=5e-4)


def test_no_tokens_are_no_utilisation_and_negative_ones_are_refused():
    assert set(shares(0).values()) == {0}
    refused("tokens_per_second is -1; it must lie between 0 and", shares, -1)


def test_a_device_without_sparse_rates_has_no_sparse_mistake():
    found = mfu_conventions(SPEC, RECIPE, 5762, 65e12, sparsity=False)
    assert "sparse peak" not in {item.name for item in found}
    sold_sparse = {key for key, device in DEVICES.items() if device.has_sparse_peak("bfloat16")}
    assert {"h100-sxm", "a10", "mi300x"} <= sold_sparse
    assert sold_sparse.isdisjoint({"t4", "v100-32gb", "mi250x", "tpu-v5e", "m2-max"})
    assert not any(device.has_sparse_peak("float32") for device in DEVICES.values())


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
    scores = sum(part.amount for part in forward.children if is_pairs(part))
    return scores / (forward.amount - scores)


def test_where_windows_hold_the_scores_down_the_crossing_is_later_or_never():
    mistral, gemma = MODELS["mistral-7b-v0.1"], MODELS["gemma-2-9b"]
    assert crossing(mistral) is None
    assert share_of_scores(mistral, 2**20) < 1

    wide = replace(mistral, window=32_000)
    new = (MODELS[key] for key in ("gemma-3-27b", "gpt-oss-20b", "deepseek-v3.2"))
    for spec in (gemma, wide, MODELS["llama-3.1-8b"], *new):
        assert share_of_scores(spec, round(crossing(spec).amount)) == pytest.approx(1, rel=1e-4)


def test_chunks_hold_the_scores_down_too():
    scout = MODELS["llama-4-scout"]
    assert share_of_scores(scout, round(crossing(scout).amount)) == pytest.approx(1, rel=1e-2)
    assert crossing(replace(scout, num_windowed_layers=48)) is None


def test_a_speed_that_somebody_reports_gives_a_claimed_share_of_the_peak():
    shares = mfu_conventions(MODELS["llama-3.1-8b"], TrainingRecipe(seq_len=8192), 22_000, 989.4e12)
    assert max(share.amount for share in shares) > 1  # nothing here checks the speed
    assert {share.kind for share in shares} == {"claimed"}
    assert six_nd_ratio(MODELS["llama-3.1-8b"], 1024, causal=True).kind == "exact"
