"""What no product and no transfer can be faster than."""

import pytest

from core.budget.catalogue.devices import DEVICES, custom_device
from core.budget.compute.least_times import CLAIMED_SIZE, least_seconds, transfer_seconds
from tests.core.budget.refusals import refused


def test_a_4096_product_is_137_gflops_and_a_4090_needs_0_8_to_1_7_ms():
    least = {item.name: item for item in least_seconds(4096, "float32")}
    assert least["RTX 4090"].amount == pytest.approx(1.664e-3, rel=1e-3)
    half = {item.name: item.amount for item in least_seconds(4096, "bfloat16")}
    assert half["RTX 4090"] == pytest.approx(0.83e-3, rel=3e-3)
    flops = 2 * CLAIMED_SIZE**3
    assert flops == pytest.approx(137.4e9, rel=1e-3)


def test_devices_without_the_dtype_are_left_out_and_no_size_and_no_bytes_are_refused():
    assert "T4" not in {item.name for item in least_seconds(64, "bfloat16")}
    refused("size is 0; it must lie between 1 and", least_seconds, 0, "float32")
    refused("num_bytes is 0; it must lie between 1 and", transfer_seconds, 0, DEVICES["t4"])


def test_seconds_are_bytes_over_the_data_sheet_s_bandwidth():
    device = DEVICES["h100-sxm"]
    host, other, own = transfer_seconds(64e9, device)
    names = ["from the host", "from another device", "from its own memory"]
    assert [host.name, other.name, own.name] == names
    assert own.amount == 64e9 / 3.35e12
    assert host.amount == 64e9 / device.host_link
    assert host.amount > other.amount > own.amount


def test_the_least_time_is_a_bound_and_no_better_known_than_the_device():
    kinds = {item.name: item.kind for item in least_seconds(64, "bfloat16")}
    assert kinds["H100 SXM"] == "bound"
    assert kinds["M4 Max (128 GB)"] == "claimed"  # Apple prints no rate: it is recalled
    assert {item.kind for item in transfer_seconds(64e9, DEVICES["a100-80gb"])} == {"bound"}
    assert [each.kind for each in transfer_seconds(1, DEVICES["gb200"])] == [
        "claimed", "bound", "bound",  # its source calls the host link a guess
    ]  # fmt: skip
    typed = custom_device(memory=1e9, flops_per_second=1e12, bandwidth=1e12)
    assert {item.kind for item in transfer_seconds(64e9, typed)} == {"claimed"}
