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
    mean_context,
    prefill_flops,
    prefill_latency,
    weights_read,
)
from core.budget.serving.plan import ServingPlan
from core.budget.serving.throughput import bound_of
from core.budget.weights.stored import serving_weights
from core.models.build import build_model
from core.models.spec import ModelSpec
from tests.core.budget.random_budgets import check_tree
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
    refused("num_tokens is 0; it must lie between 1", prefill_flops, mistral, 0)


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


def test_a_group_of_devices_reads_its_parts():
    for name in ("llama-3.1-70b", "mixtral-8x22b"):
        spec: ModelSpec = MODELS[name]
        whole = weights_read(spec, ServingPlan(), 3).amount
        for tensor in (2, 4, 8):
            part = weights_read(spec, ServingPlan(tensor=tensor), 3).amount
            assert part * tensor == pytest.approx(whole, rel=0.001), (name, tensor)


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


def test_no_token_is_faster_than_the_bandwidth_of_the_data_sheet():
    for name, spec in MODELS.items():
        plan = replace(with_measured_mbu(ServingPlan()), mbu=1)
        least = weights_read(spec, plan, 1).amount / H100.device.bandwidth
        assert decode_latency(spec, plan, H100).amount > least, name


def test_decoding_for_one_waits_for_memory_and_a_long_prompt_for_compute():
    for name in ("llama-2-7b", "llama-3.1-70b", "gemma-2-27b"):
        plan = with_measured_mbu(ServingPlan(prompt_len=2048))
        assert bound_of(decode_latency(MODELS[name], plan, H100)) == "reading", name
        assert bound_of(prefill_latency(MODELS[name], plan, H100)) == "computing", name


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
    each = [decode_latency(spec, plan, H100, context=101 + n).amount for n in range(40)]
    assert mean_context(plan) == 120
    assert sum(each) / 40 == pytest.approx(decode_latency(spec, plan, H100).amount, rel=1e-4)


def test_the_tree_adds_up_and_every_line_comes_from_its_formula():
    for tensor in (1, 2):
        plan, cluster = ServingPlan(tensor=tensor), replace(H100, num_devices=tensor)
        for latency, has_bands in (
            (decode_latency(MODELS["mixtral-8x7b"], plan, cluster), True),
            (prefill_latency(MODELS["mixtral-8x7b"], plan, cluster), False),
        ):
            check_tree(latency, has_bands=has_bands)
            assert {line.kind for line in latency.walk()} == {"estimated"}
            assert prefill_latency(MODELS["mixtral-8x7b"], plan, cluster).amount > 0


def test_more_devices_read_faster_and_wait_for_each_other():
    spec = MODELS["llama-2-70b"]
    names = []
    seconds = []
    for tensor in (1, 2, 4, 8):
        cluster = replace(H100, num_devices=tensor)
        latency = decode_latency(spec, ServingPlan(tensor=tensor), cluster)
        seconds.append(latency.amount)
        names.append([part.name for part in latency.children])
    assert seconds == sorted(seconds, reverse=True)
    assert names[0] == ["reading or computing", "launches"]
    assert names[1] == ["reading or computing", "launches and joins", "all-reduces"]


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


def test_what_is_stored_in_16_bits_is_multiplied_the_same_either_way():
    for name in ("llama-3.1-8b", "deepseek-v3", "qwen3-30b-a3b"):
        for time in (prefill_latency, decode_latency):
            one, other = (
                time(MODELS[name], ServingPlan(compute=compute, concurrency=500), H100).amount
                for compute in ("weight-only", "native")
            )
            assert one == pytest.approx(other), name


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
