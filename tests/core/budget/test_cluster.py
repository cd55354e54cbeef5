"""Devices and layouts: what is refused, and in which words."""

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.cluster import Cluster, DeviceSpec, peak_of, pool
from tests.core.budget.refusals import refused

CHIP = {
    "name": "a chip", "peak": {"bfloat16": 1e14}, "memory_sold": 80e9, "memory_usable": 79e9,
    "bandwidth": 2e12, "link": 3e11, "host_link": 3e10, "source": "made up", "date": "2026-11",
}  # fmt: skip


def cluster(**changes):
    return Cluster(device=DeviceSpec(**CHIP), **changes)


def test_a_layout_that_cannot_be_is_refused():
    refused("num_devices is 0; it must lie between 1 and 1,000,000", cluster, num_devices=0)
    refused("1,048,576 devices are more than .* at most 1,000", cluster, num_devices=2**20)
    refused("12 devices cannot be split into .* multiple of 8", cluster, num_devices=12, tensor=8)
    refused(
        "3 expert-parallel ranks cannot be taken from 4 data-parallel ranks",
        cluster,
        num_devices=4,
        expert=3,
    )
    refused(
        "12 devices cannot be split into 2 .* times 1 .* times 4 context-parallel ranks; take a "
        "multiple of 8",
        cluster,
        num_devices=12,
        tensor=2,
        context=4,
    )
    refused("2 virtual stages need a pipeline", cluster, virtual_stages=2)
    refused("zero_stage is 4; it must lie between 0 and 3", cluster, zero_stage=4)
    refused("overlap is 1.5; it must lie between 0 and 1", cluster, overlap=1.5)
    refused("network is -1.0; it must lie between 0", cluster, network=-1.0)
    refused("devices_per_node is 0", cluster, devices_per_node=0)


@pytest.mark.parametrize("name", ["memory_sold", "memory_usable", "bandwidth", "link", "host_link"])
def test_a_device_has_no_negative_numbers(name):
    refused(f"{name} is -1; it must lie between 0", DeviceSpec, **CHIP | {name: -1})


def test_a_peak_is_a_rate_that_can_be():
    peak = {"fp8": float("nan")}
    refused("peak of fp8 is nan; it must lie between 0", DeviceSpec, **CHIP | {"peak": peak})


def test_the_peak_is_that_of_the_recipes_dtype():
    assert peak_of(DEVICES["h100-sxm"], "mixed_bf16") == 989.4e12
    assert peak_of(DEVICES["h100-sxm"], "fp32") == 67e12
    assert peak_of(DEVICES["t4"], "mixed_bf16") == DEVICES["t4"].peak["float16"]


def test_the_pool_of_devices_is_what_tensors_can_fill():
    """8 H100 of 78.65 GiB: 42.2 billion parameters at 16 bytes; the boxes' 80 GB would be 40.0."""
    h100 = DEVICES["h100-sxm"]
    assert pool(h100) == h100.memory_usable
    assert pool(h100, 8) == 8 * h100.memory_usable
    refused("num_devices is 0; it must lie between 1 and", pool, h100, 0)
