"""What a pass computes, reads and takes: against torch, dice and published speeds."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from core.budget.catalogue.devices import DEVICES, custom_device
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.serving.decode_speeds import (
    far_band,
    near_band,
    published_speeds,
    with_measured_mbu,
)
from core.budget.serving.latency import (
    decode_flops,
    decode_latency,
    prefill_flops,
    prefill_latency,
    weights_read,
)
from core.budget.serving.plan import ServingPlan
from core.budget.serving.throughput import bound_of
from core.budget.weights.stored import serving_weights
from core.models.build import build_model
from tests.core.budget.refusals import refused
from tests.core.budget.serving.test_decode_speeds import STRANGERS
from tests.core.budget.weights.test_stored import shallow


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


def test_with_an_indexer_a_long_context_costs_its_index_scores_alone():
    spec = MODELS["deepseek-v3.2"]
    near, far = (
        decode_flops(spec, context, 1).child("attention scores").amount for context in (4096, 5096)
    )
    assert far - near == 2 * 61 * 1000 * 64 * 128


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


def test_a_pass_reads_all_but_the_tables_unless_the_table_is_the_head():
    for name, spec in MODELS.items():
        if spec.mixture is not None:
            continue
        thin = shallow(spec, num_layers=1)
        model = build_model(thin)
        tables = [model.positions] if model.positions is not None else []
        tables += [] if spec.tied else [model.tokens]
        skipped = sum(table.weight.numel() for table in tables)
        parameters = sum(each.numel() for each in model.parameters())

        read = weights_read(thin, ServingPlan(), 1)

        assert read.amount == 2 * (parameters - skipped), name


def test_experts_are_read_as_often_as_dice_say():
    spec = MODELS["qwen3-30b-a3b"]
    num_experts, picked = spec.mixture.num_experts, spec.mixture.experts_per_token
    rng = np.random.default_rng(0)
    for num_tokens in (1, 2, 8, 40):
        tries = 300
        seen = np.zeros((tries, num_experts), dtype=bool)
        for row in seen:
            for _ in range(num_tokens):
                row[rng.permutation(num_experts)[:picked]] = True
        expected = seen.mean()

        experts = weights_read(spec, ServingPlan(), num_tokens).child("experts")

        assert experts.amount / experts.values["expert_bytes"] == pytest.approx(expected, rel=0.02)
        assert experts.kind == "estimated"


def test_many_tokens_read_every_expert_and_one_token_its_own():
    for name in ("mixtral-8x7b", "deepseek-v3"):
        spec = MODELS[name]
        plan = ServingPlan(weight_format="int8_group128")
        table = 2 * spec.vocab_size * spec.hidden_dim

        many = weights_read(spec, plan, 1_000_000)

        assert many.amount == serving_weights(spec, plan.weight_format).amount - table, name
        one = weights_read(spec, plan, 1).child("experts")
        share = spec.mixture.experts_per_token / spec.mixture.num_experts
        assert one.amount == pytest.approx(share * many.child("experts").amount), name


A100 = Cluster(device=DEVICES["a100-80gb"])
H100 = Cluster(device=DEVICES["h100-sxm"])


def test_published_speeds_are_met_within_15_percent():
    tried = 0
    for row in published_speeds():
        if row.bits == 5 or (row.model, row.bits, row.tensor) in STRANGERS:
            continue  # groups of 32 are none of our formats
        fmt = "bfloat16" if row.bits == 16 else "int8_channel"
        plan = ServingPlan(weight_format=fmt, prompt_len=5, output_len=200, tensor=row.tensor)
        cluster = replace(A100, num_devices=row.tensor)

        token = decode_latency(MODELS[row.model], with_measured_mbu(plan), cluster)

        assert 1 / token.amount == pytest.approx(row.tokens_per_second, rel=0.15), row
        tried += 1
    assert tried == 26


def test_reading_grows_only_by_the_cache_and_computing_with_the_sequences():
    spec = MODELS["llama-2-7b"]
    parts = {}
    for concurrency in (1, 10):
        latency = decode_latency(spec, ServingPlan(concurrency=concurrency), H100)
        parts[concurrency] = latency.child("reading or computing")

    reading = [part.child("reading") for part in parts.values()]
    assert reading[0].values["weight_bytes"] == reading[1].values["weight_bytes"]
    assert 10 * reading[0].values["kv_bytes"] == reading[1].values["kv_bytes"]
    computing = [part.child("computing").amount for part in parts.values()]
    assert computing[1] == pytest.approx(10 * computing[0])


def test_the_mean_over_an_answer_is_the_time_at_its_middle():
    spec, plan = MODELS["llama-3.1-8b"], ServingPlan(prompt_len=100, output_len=40)
    last = [replace(plan, prompt_len=101 + n, output_len=1) for n in range(40)]
    each = [decode_latency(spec, alone, H100).amount for alone in last]
    assert sum(each) / 40 == pytest.approx(decode_latency(spec, plan, H100).amount, rel=1e-4)


def test_a_device_without_numbers_is_refused_in_a_sentence():
    spec, plan = MODELS["llama-2-7b"], ServingPlan()
    slow = custom_device(name="A box", memory=80e9, flops_per_second=1e12, bandwidth=0)
    idle = custom_device(name="A box", memory=80e9, flops_per_second=0, bandwidth=1e12)
    alone = custom_device(memory=80e9, flops_per_second=1e12, bandwidth=1e12, link=0)

    refused("has no known bandwidth; type one in", decode_latency, spec, plan, Cluster(device=slow))
    with pytest.raises(ValueError, match="A box has no FLOP/s in 16 or 32 bits; type one in"):
        prefill_latency(spec, plan, Cluster(device=idle))
    with pytest.raises(ValueError, match="link is 0; it must lie between 1"):
        decode_latency(spec, replace(plan, tensor=2), Cluster(device=alone, num_devices=2))


def test_weights_of_32_bits_are_multiplied_in_float32_not_on_the_16_bit_tensor_cores():
    spec, plan = MODELS["llama-3.1-8b"], ServingPlan(prompt_len=4096)
    half, full = (
        prefill_latency(spec, replace(plan, weight_format=fmt), H100).child("reading or computing")
        for fmt in ("bfloat16", "float32")
    )
    assert full.amount / half.amount == pytest.approx(989.4 / 67)


def test_native_fp8_spares_the_time_of_the_matrices_not_that_of_scores_and_head():
    """An H100 has 989.4 TFLOP/s in 16 bits and 1,978.9 in FP8 (NVIDIA H100 white paper)."""
    spec = MODELS["llama-3.1-8b"]
    plan = ServingPlan(weight_format="fp8_block128", prompt_len=7680, mfu=0.5)

    weight_only = prefill_latency(spec, plan, H100)
    native = prefill_latency(spec, replace(plan, compute="native"), H100)

    projections = 2 * spec.hidden_dim * spec.head_dim * (spec.num_heads + spec.num_kv_heads)
    per_token = 2 * spec.num_layers * (projections + 3 * spec.hidden_dim * spec.ffn_dim)
    spared = 7680 * per_token * (1 / 989.4e12 - 1 / 1978.9e12) / 0.5
    assert weight_only.amount - native.amount == pytest.approx(spared)
    assert weight_only.amount == pytest.approx(0.249, abs=0.0005)
    assert native.amount == pytest.approx(0.141, abs=0.0005)


def test_a_native_pass_reads_what_a_weight_only_pass_reads():
    plan = ServingPlan(weight_format="fp8_block128")
    for change in ({}, {"compute": "native"}):
        token = decode_latency(MODELS["llama-3.1-8b"], replace(plan, **change), H100)
        assert token.child("launches").amount < token.amount
        assert bound_of(token) == "reading"
    with pytest.raises(ValueError, match="A100 SXM 80 GB does not multiply fp8_block128 as it is"):
        prefill_latency(MODELS["llama-3.1-8b"], replace(plan, compute="native"), A100)


def test_a_token_has_the_band_of_its_rows_and_a_prompt_none():
    spec, plan = MODELS["llama-2-7b"], with_measured_mbu(ServingPlan())
    for cluster, concurrency, band in ((A100, 1, near_band()), (H100, 1, far_band()),
                                       (A100, 8, far_band())):  # fmt: skip
        asked = replace(plan, concurrency=concurrency)
        token = decode_latency(spec, asked, cluster)
        assert token.low == pytest.approx(token.amount * (1 - band.below))
        assert token.high == pytest.approx(token.amount * (1 + band.above))
        assert token.source == band.source

        prompt = prefill_latency(spec, asked, cluster)
        assert prompt.low == prompt.amount == prompt.high
        assert prompt.kind == "estimated"
        assert "no published measurements" in prompt.source
