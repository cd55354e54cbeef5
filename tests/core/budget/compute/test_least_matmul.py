import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.compute.least_matmul import CLAIMED_SIZE, CLAIMS, least_seconds


def test_a_4096_product_is_137_gflops_and_a_4090_needs_0_8_to_1_7_ms():
    least = {item.name: item for item in least_seconds(4096, "float32")}
    assert least["RTX 4090"].amount == pytest.approx(1.664e-3, rel=1e-3)
    half = {item.name: item.amount for item in least_seconds(4096, "bfloat16")}
    assert half["RTX 4090"] == pytest.approx(0.83e-3, rel=3e-3)
    flops = 2 * CLAIMED_SIZE**3
    assert flops == pytest.approx(137.4e9, rel=1e-3)


def test_the_claimed_time_is_beyond_every_peak_of_the_card():
    rate = 2 * CLAIMED_SIZE**3 / CLAIMS["RTX 4090"]
    assert rate == pytest.approx(2.75e15, rel=1e-3)
    assert rate > max(DEVICES["rtx-4090"].peak.values())


def test_devices_without_the_dtype_are_left_out_and_no_size_is_refused():
    assert "T4" not in {item.name for item in least_seconds(64, "bfloat16")}
    with pytest.raises(ValueError, match="size is 0; it must lie between 1 and"):
        least_seconds(0, "float32")
