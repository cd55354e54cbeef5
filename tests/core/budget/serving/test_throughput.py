"""The curve of speed over sequences, and the point at which memory ends it."""

from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.serving.latency import decode_latency, prefill_latency
from core.budget.serving.memory import inference_budget, largest_concurrency
from core.budget.serving.plan import ServingPlan
from core.budget.serving.throughput import (
    calibrated,
    device_speed,
    throughput_curve,
    user_speed,
)
from tests.core.budget.refusals import refused

H100 = Cluster(device=DEVICES["h100-sxm"])


def test_the_curve_ends_where_memory_ends():
    for model in ("llama-2-7b", "gpt2", "qwen3-30b-a3b"):
        spec, plan = MODELS[model], ServingPlan(prompt_len=256, output_len=256)

        curve = throughput_curve(spec, plan, H100)

        assert curve.largest == largest_concurrency(spec, plan, H100)
        assert curve.last_that_fits.concurrency == curve.largest, model
        for point in curve.points:
            budget = inference_budget(spec, replace(plan, concurrency=point.concurrency), H100)
            assert point.fits == budget.fits, (model, point.concurrency)


def test_more_sequences_wait_longer_and_give_more():
    curve = throughput_curve(MODELS["llama-3.1-8b"], ServingPlan(), H100)
    waits = [point.seconds_per_token for point in curve.points]
    speeds = [point.tokens_per_second for point in curve.points]
    assert waits == sorted(waits)
    assert speeds == sorted(speeds)


def test_short_contexts_turn_to_computing_and_long_ones_never_do():
    spec = MODELS["llama-3.1-8b"]
    short = throughput_curve(spec, ServingPlan(prompt_len=16, output_len=16), H100)
    long = throughput_curve(spec, ServingPlan(prompt_len=100_000), H100)

    bounds = [point.bound for point in short.points]
    turning = bounds.index("computing")
    assert short.points[turning].concurrency > 100
    assert set(bounds[:turning]) == {"reading"}
    assert {point.bound for point in long.points} == {"reading"}


def test_speeds_are_tokens_over_seconds():
    spec = MODELS["llama-2-7b"]
    plan = ServingPlan(prompt_len=1000, output_len=100, concurrency=4)
    prefill, token = prefill_latency(spec, plan, H100), decode_latency(spec, plan, H100)

    assert user_speed(token).amount == 1 / token.amount
    seconds = 4 * prefill.amount + 100 * token.amount
    assert device_speed(plan, prefill, token).amount == pytest.approx(400 / seconds)
    shared = replace(plan, tensor=2)
    assert device_speed(shared, prefill, token).amount == pytest.approx(200 / seconds)
    none = replace(plan, output_len=0)
    assert device_speed(none, prefill, token).amount == 0
    assert user_speed(token).low == 1 / token.high < user_speed(token).amount
    assert user_speed(token).high == 1 / token.low > user_speed(token).amount
    device = device_speed(plan, prefill, token)
    assert device.low == device.amount == device.high, "prompts have no band"


A100 = Cluster(device=DEVICES["a100-80gb"])
SPEC = MODELS["llama-2-7b"]


def test_a_calibrated_plan_gives_the_measured_speed_back():
    for speed in (3, 50, 104.9):
        plan = calibrated(SPEC, ServingPlan(concurrency=9), A100, speed)
        alone = ServingPlan(mbu=plan.mbu)
        assert 1 / decode_latency(SPEC, alone, A100).amount == pytest.approx(speed)
        assert plan.concurrency == 9


def test_a_speed_that_no_memory_gives_is_refused_in_a_sentence():
    beyond = r"tokens/s cannot be: A100.* needs at least 8\.30 ms"
    little = r"^0.01 tokens/s is not a thousandth of what A100.*8\.30 ms a token"
    nothing = r"tokens_per_second is 0; it must lie between 0\.001"
    for speed in (140, 2000, 1e8):
        refused(beyond, calibrated, SPEC, ServingPlan(), A100, speed)
    refused(little, calibrated, SPEC, ServingPlan(), A100, 0.01)
    refused(nothing, calibrated, SPEC, ServingPlan(), A100, 0)
