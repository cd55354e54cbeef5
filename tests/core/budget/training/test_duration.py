"""Training time: the lecture's question, its lines, and what each knob does to them."""

from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster, DeviceSpec
from core.budget.compute.step_flops import step_flops
from core.budget.parallel.communication import exposed_seconds
from core.budget.recipe import TrainingRecipe
from core.budget.training.duration import (
    cost,
    reached_mfu,
    training_seconds,
    training_time,
)
from tests.core.budget.refusals import refused

DAY = 86_400
SPEC = MODELS["llama-3.1-8b"]
RECIPE = TrainingRecipe(seq_len=4096, accumulation=8, checkpointing="full")
H100 = DEVICES["h100-sxm"]
MANY = Cluster(device=H100, num_devices=64, tensor=4, pipeline=2, zero_stage=1)


def names(time):
    return [part.name for part in time.children]


def test_70_b_on_15_t_tokens_takes_144_days_and_with_the_sparse_peak_72():
    # Stanford CS336 (2025), lecture 2, which rounds the H100's 989.4 TFLOP/s to 989.5.
    dense = training_seconds(70 * 10**9, 15 * 10**12, 1024, 989.4e12, 0.5)
    sparse = training_seconds(70 * 10**9, 15 * 10**12, 1024, 1979e12, 0.5)
    assert dense / DAY == pytest.approx(143.94, abs=0.005)
    assert sparse / DAY == pytest.approx(71.96, abs=0.005)


def test_compute_is_flops_over_what_all_devices_reach():
    time = training_time(SPEC, RECIPE, MANY, 1e12, 0.6)
    step = step_flops(SPEC, RECIPE).amount
    num_steps = 1e12 / (8 * 4096 * 8)
    busy = time.child("compute").amount + time.child("extra work").amount
    assert busy == pytest.approx(num_steps * step / (8 * 989.4e12 * 0.6))


def test_a_cluster_adds_communication_and_bubble_each_its_own_line():
    time = training_time(SPEC, RECIPE, MANY, 1e12, 0.6)
    num_steps = 1e12 / (8 * 4096 * 8)

    assert names(time) == ["compute", "extra work", "communication", "pipeline bubble"]
    each = exposed_seconds(SPEC, RECIPE, MANY).amount
    assert time.child("communication").amount == pytest.approx(num_steps * each)
    busy = time.child("compute").amount + time.child("extra work").amount
    assert time.child("pipeline bubble").amount == pytest.approx(busy * (2 - 1) / 8)
    assert time.low <= time.amount <= time.high


def test_the_mfu_of_the_whole_is_lower_than_that_of_the_products_and_equal_without_any_waiting():
    time = training_time(SPEC, RECIPE, MANY, 1e12, 0.6)
    assert 0.3 < reached_mfu(SPEC, RECIPE, MANY, 1e12, time.amount).amount < 0.6
    plain = replace(RECIPE, profile="megatron", checkpointing="none")
    alone = Cluster(device=H100)
    busy = training_time(SPEC, plain, alone, 1e12, 0.6)
    assert reached_mfu(SPEC, plain, alone, 1e12, busy.amount).amount == pytest.approx(0.6)


def test_what_cannot_be_is_refused_in_a_sentence():
    unknown = DeviceSpec(
        name="abacus", peak={}, memory_sold=1, memory_usable=1, bandwidth=1, link=1, host_link=1,
        source="", date="",
    )  # fmt: skip
    with pytest.raises(ValueError, match="abacus has no known peak for bfloat16; choose another"):
        training_time(SPEC, RECIPE, Cluster(device=unknown), 1e9, 0.5)
    refused("mfu is 0; it must lie between 1e-06 and 1", training_seconds, 1, 1, 1, 1.0, 0)
    refused("num_params is 0", training_seconds, 0, 1, 1, 1.0, 0.5)
    refused("num_devices is 0", training_seconds, 1, 1, 0, 1.0, 0.5)
    refused("price_per_hour is -1; it must lie between 0 and", cost, 1, 1, -1)
    refused("num_devices is 0", cost, 0, 1, 1)


def test_a_price_is_devices_times_hours_times_what_the_reader_pays():
    item = cost(8, 3600 * 24 * 14, 2.5)
    assert item.amount == 8 * 24 * 14 * 2.5
    assert item.substituted == "8 * 1,209,600 / 3600 * 2.5"


def test_deepseek_v3_cost_5_3_million_at_2_dollars():
    # DeepSeek-V3 Technical Report, table 1: 2.664 M H800 hours at 2 USD are 5.328 M USD.
    assert cost(2048, 2_664_000 * 3600 / 2048, 2.0).amount == pytest.approx(5.328e6)


def test_a_cost_is_as_uncertain_as_the_time_behind_it_and_may_be_absurdly_large():
    item = cost(1, 7.4e19, 1000.0)  # 100,000 B parameters on 10,000 T tokens with one T4
    assert item.kind == "estimated"
    assert item.low < item.amount < item.high
