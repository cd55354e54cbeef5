"""Memory over one setting, held against the budget of every plan on the way."""

from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.serving.inference_budget import inference_budget, with_context
from core.budget.serving.serving_plan import ServingPlan
from core.budget.serving.serving_sweep import AXES, memory_sweep

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


def test_the_picture_reaches_the_plan_where_nothing_fits_and_ends_where_all_fits():
    plan = ServingPlan(prompt_len=100_000)
    huge = memory_sweep(MODELS["llama-3.1-405b"], plan, RTX)
    tiny = memory_sweep(MODELS["gpt2"], ServingPlan(), RTX)

    assert huge.largest == 0
    assert huge.values[-1] == huge.chosen * 5 // 4
    assert tiny.largest > 4 * 1024
    assert tiny.values[-1] == 5 * 1024


def test_what_cannot_be_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="axis is 'batch'; use one of: context, sequences"):
        memory_sweep(MODELS["gpt2"], ServingPlan(), RTX, "batch")
    with pytest.raises(ValueError, match="1 devices cannot be shared out to 4 tensor ranks"):
        memory_sweep(MODELS["gpt2"], ServingPlan(tensor=4), RTX)
