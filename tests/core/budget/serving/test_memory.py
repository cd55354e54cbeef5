"""What serving keeps: the peak of a real pass, what fits beside it, how far that can go."""

from dataclasses import replace

import pytest
import torch

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.serving.memory import (
    AXES,
    inference_budget,
    largest_concurrency,
    largest_context,
    memory_sweep,
    serving_memory,
    work_space,
)
from core.budget.serving.plan import ServingPlan, with_context
from core.budget.simulation.tracker import StorageTracker
from core.budget.weights.stored import serving_weights
from core.models.build import build_model
from tests.core.budget.refusals import refused
from tests.core.budget.weights.test_stored import KINDS, shallow


def peak_of_a_pass(spec, num_tokens):
    """Bytes at the peak of one forward pass of the module, weights apart."""
    model, tracker = build_model(spec, dtype=torch.bfloat16), StorageTracker()
    token_ids = torch.zeros(1, num_tokens, dtype=torch.long, device="meta")
    tracker.ignore([*model.parameters(), token_ids])
    with torch.no_grad(), tracker:
        hidden = model.hidden(token_ids)
        model.head(hidden[:, -1]).float()
    return max(event.live for event in tracker.timeline({}).events)


def test_work_space_is_the_peak_of_a_pass():
    for name in KINDS:
        spec = shallow(MODELS[name])

        item = work_space(spec, ServingPlan(prompt_len=1000))

        peak = peak_of_a_pass(spec, 1000)
        assert item.low <= peak <= item.high, name
        assert item.kind == "estimated"
        if spec.mixture is None:
            assert item.amount == pytest.approx(peak, rel=0.03), name


def test_long_prompts_are_read_in_pieces():
    spec = MODELS["llama-2-7b"]
    one, many = (work_space(spec, ServingPlan(prompt_len=n)) for n in (8192, 80_000))
    assert one.amount == many.amount


def test_a_group_of_devices_shares_weights_and_heads():
    spec = MODELS["llama-3.1-70b"]
    whole = serving_memory(spec, ServingPlan())
    for tensor in (2, 4, 8):
        part = serving_memory(spec, ServingPlan(tensor=tensor))
        assert whole.amount / tensor <= part.amount < whole.amount, tensor
        assert part.child("KV cache").amount * tensor == whole.child("KV cache").amount, tensor
    sixteen = serving_memory(spec, ServingPlan(tensor=16))
    assert sixteen.child("KV cache").amount == part.child("KV cache").amount  # 8 key heads
    latent = MODELS["deepseek-v3"]
    caches = [serving_memory(latent, ServingPlan(tensor=n)).child("KV cache") for n in (1, 8)]
    assert caches[0].amount == caches[1].amount  # each device holds the latent vector


def test_what_cannot_be_is_refused_in_a_sentence():
    spec = MODELS["llama-2-7b"]
    refused("weight_format is 'q4_k'; use one of: float64", serving_weights, spec, "q4_k")
    refused("kv_format is ''; use one of: float64", serving_memory, spec, ServingPlan(kv_format=""))
    refused(
        "5 tensor-parallel ranks cannot share 32 heads", serving_memory, spec, ServingPlan(tensor=5)
    )


H100 = Cluster(device=DEVICES["h100-sxm"])


def test_the_budget_is_memory_beside_capacity():
    budget = inference_budget(MODELS["llama-3.1-8b"], ServingPlan(), H100)
    assert budget.fits
    assert budget.capacity == DEVICES["h100-sxm"].memory_usable
    assert [part.name for part in budget.item.children] == ["weights", "KV cache", "workspace"]
    assert budget.stages == (budget.item,)


def test_the_largest_number_of_sequences_fits_and_one_more_does_not():
    for model, fmt, tensor in (
        ("llama-2-7b", "bfloat16", 1),
        ("llama-3.1-70b", "int8_group128", 2),
        ("mistral-7b-v0.1", "int4_group128", 1),
        ("deepseek-v3", "int4_group128", 8),
    ):
        spec = MODELS[model]
        plan = ServingPlan(weight_format=fmt, tensor=tensor)
        cluster = replace(H100, num_devices=tensor)

        most = largest_concurrency(spec, plan, cluster)

        assert most > 0, model
        assert inference_budget(spec, replace(plan, concurrency=most), cluster).fits, model
        assert not inference_budget(spec, replace(plan, concurrency=most + 1), cluster).fits, model


def test_the_longest_context_fits_and_one_more_token_does_not():
    for model in ("llama-2-7b", "gemma-2-9b", "qwen3-8b"):
        spec, plan = MODELS[model], ServingPlan(concurrency=3)
        most = largest_context(spec, plan, H100)
        assert inference_budget(spec, with_context(plan, most), H100).fits, model
        assert not inference_budget(spec, with_context(plan, most + 1), H100).fits, model


def test_a_budget_or_a_sweep_that_cannot_be_is_refused_in_a_sentence():
    spec, pair = MODELS["llama-2-7b"], ServingPlan(tensor=2)
    for call in (inference_budget, memory_sweep):
        refused("1 devices cannot be split into 2 tensor-parallel ranks", call, spec, pair, H100)
    with pytest.raises(
        ValueError, match="64 tensor-parallel ranks cannot share the 32 attention heads"
    ):
        largest_concurrency(spec, ServingPlan(tensor=64), replace(H100, num_devices=64))
    refused("num_devices is 0; it must lie between 1", replace, H100, num_devices=0)
    refused("axis is 'batch'; use one of: context", memory_sweep, spec, pair, H100, "batch")


RTX = Cluster(device=DEVICES["rtx-4090"])


def test_every_point_is_the_budget_of_its_plan():
    spec, plan = MODELS["llama-3.1-8b"], ServingPlan(concurrency=3)
    for axis in AXES:
        sweep = memory_sweep(spec, plan, RTX, axis)
        for value, cache, work in zip(sweep.values, sweep.caches, sweep.work_spaces, strict=True):
            each = with_context(plan, value) if axis == "context" else None
            each = each or replace(plan, concurrency=value)
            budget = inference_budget(spec, each, RTX)
            assert sweep.weights + cache + work == budget.item.amount, (axis, value)
            assert budget.fits == (value <= sweep.largest), (axis, value)
        assert sweep.values == tuple(sorted(set(sweep.values)))
        assert sweep.values[0] == 1
        assert sweep.values[-1] > max(sweep.chosen, sweep.largest)
