"""Devices and layouts: what is refused, and in which words."""

import pytest

from core.budget.cluster import Cluster, DeviceSpec

CHIP = {
    "name": "a chip",
    "peak": {"bfloat16": 1e14},
    "memory_sold": 80e9,
    "memory_usable": 79e9,
    "bandwidth": 2e12,
    "link": 3e11,
    "host_link": 3e10,
    "source": "made up",
    "date": "2026-11",
}


def cluster(**changes):
    return Cluster(device=DeviceSpec(**CHIP), **changes)


def test_data_ranks_are_what_tensor_and_pipeline_leave():
    assert cluster(num_devices=64, tensor=8, pipeline=2).data == 4


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"num_devices": 0}, "num_devices is 0; it must lie between 1 and 1,000,000"),
        ({"num_devices": 2**20}, "1,048,576 devices are more than any cluster has: at most 1,000"),
        ({"num_devices": 12, "tensor": 8}, "12 devices cannot be shared out .* multiple of 8"),
        ({"num_devices": 4, "expert": 3}, "3 expert ranks cannot be taken from 4 data ranks"),
        ({"zero_stage": 4}, "zero_stage is 4; it must lie between 0 and 3"),
        ({"overlap": 1.5}, "overlap is 1.5; it must lie between 0 and 1"),
        ({"network": -1.0}, "network is -1.0; it must lie between 0"),
        ({"devices_per_node": 0}, "devices_per_node is 0"),
    ],
)
def test_a_layout_that_cannot_be_is_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        cluster(**changes)


@pytest.mark.parametrize("name", ["memory_sold", "memory_usable", "bandwidth", "link", "host_link"])
def test_a_device_has_no_negative_numbers(name):
    with pytest.raises(ValueError, match=f"{name} is -1; it must lie between 0"):
        DeviceSpec(**(CHIP | {name: -1}))


def test_a_peak_is_a_rate_that_can_be():
    with pytest.raises(ValueError, match="peak of fp8 is nan; it must lie between 0"):
        DeviceSpec(**(CHIP | {"peak": {"fp8": float("nan")}}))
