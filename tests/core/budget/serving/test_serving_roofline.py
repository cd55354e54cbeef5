"""The roofline of serving: C133, MFU is at most min(1, intensity / ridge)."""

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.serving.serving_plan import ServingPlan
from core.budget.serving.serving_roofline import DECODED, device_ridge, intensity, roofline_points
from core.budget.serving.serving_time import decode_latency

H100 = Cluster(device=DEVICES["h100-sxm"])


def test_no_point_is_above_the_roof():
    for name, spec in MODELS.items():
        for tensor in (1, 2):
            plan = ServingPlan(tensor=tensor if spec.num_heads % 2 == 0 else 1, concurrency=7)
            for point in roofline_points(spec, plan, Cluster(device=H100.device, num_devices=2)):
                roof = min(1, point.intensity / device_ridge(H100.device).amount)
                assert 0 < point.mfu < roof, (name, point)


def test_the_ridge_of_an_h100_is_295():
    assert device_ridge(H100.device).amount == pytest.approx(989.4 / 3.35)


def test_decoding_for_one_has_an_intensity_near_one_and_grows_with_the_sequences():
    spec, plan = MODELS["llama-2-7b"], ServingPlan(prompt_len=16, output_len=16)
    points = roofline_points(spec, plan, H100)
    decoding = [point for point in points if point.phase == "decoding"]

    assert [point.num_tokens for point in decoding] == list(DECODED)
    assert decoding[0].intensity == pytest.approx(1, abs=0.05)
    assert decoding[1].intensity == pytest.approx(4, rel=0.05)
    assert [p.mfu for p in decoding] == sorted(p.mfu for p in decoding)


def test_a_long_prompt_reaches_the_chosen_share_of_the_peak():
    plan = ServingPlan(prompt_len=4096, concurrency=5, mfu=0.4)
    *decoding, prefill = roofline_points(MODELS["llama-2-7b"], plan, H100)

    assert prefill.phase == "prefill"
    assert prefill.mfu == pytest.approx(0.4)
    assert 5 in [point.num_tokens for point in decoding]


def test_intensity_is_flops_over_bytes():
    latency = decode_latency(MODELS["llama-2-7b"], ServingPlan(), H100)
    found = intensity(latency)
    values = found.values

    assert found.amount == values["flops"] / (values["weight_bytes"] + values["kv_bytes"])
