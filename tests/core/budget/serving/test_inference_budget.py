"""Whether a plan fits, and how far it can be stretched: held against trying every number."""

from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.serving.inference_budget import (
    inference_budget,
    largest_concurrency,
    largest_context,
    with_context,
)
from core.budget.serving.serving_plan import ServingPlan

H100 = Cluster(device=DEVICES["h100-sxm"])


def test_the_budget_is_memory_beside_capacity():
    budget = inference_budget(MODELS["llama-3.1-8b"], ServingPlan(), H100)

    assert budget.fits
    assert budget.capacity == DEVICES["h100-sxm"].memory_usable
    assert [part.name for part in budget.item.children] == ["weights", "KV cache", "work space"]
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


def test_where_the_weights_do_not_fit_nothing_does():
    spec = MODELS["llama-3.1-405b"]

    assert largest_concurrency(spec, ServingPlan(), H100) == 0
    assert largest_context(spec, ServingPlan(), H100) == 0
    assert not inference_budget(spec, ServingPlan(), H100).fits


def test_more_of_anything_never_takes_less():
    spec, base = MODELS["llama-3.1-8b"], ServingPlan()
    for name in ("prompt_len", "output_len", "concurrency"):
        amounts = [
            inference_budget(spec, replace(base, **{name: value}), H100).item.amount
            for value in (1, 2, 100, 10_000, 100_000)
        ]
        assert amounts == sorted(amounts), name


def test_a_context_is_shared_out_to_prompt_and_answer():
    plan = ServingPlan(prompt_len=100, output_len=50)

    for context in (1, 2, 50, 51, 52, 1000):
        assert with_context(plan, context).context == context
    assert with_context(plan, 1000).output_len == 50
    assert with_context(plan, 10).prompt_len == 1


def test_what_cannot_be_is_refused_in_a_sentence():
    spec = MODELS["llama-2-7b"]
    with pytest.raises(ValueError, match="1 devices cannot be shared out to 2 tensor ranks"):
        inference_budget(spec, ServingPlan(tensor=2), H100)
    with pytest.raises(ValueError, match="64 tensor ranks cannot share the 32 attention heads"):
        largest_concurrency(spec, ServingPlan(tensor=64), replace(H100, num_devices=64))
    with pytest.raises(ValueError, match="num_devices is 0; it must lie between 1"):
        replace(H100, num_devices=0)
