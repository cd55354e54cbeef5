"""Usable memory: readings that others posted, and estimates where there are none."""

import re

import pytest

from core.budget.catalogue.devices import DEVICES, custom_device
from core.budget.catalogue.usable_memory import HALF_A_DIGIT, KEPT, SPREAD, usable_memory
from core.units import GIB

REPORTED_MIB = {  # by nvidia-smi: modal-labs/modal-client#2797
    "t4": 15_360, "a10": 23_028, "l4": 23_034, "l40s": 46_068, "a100-40gb": 40_960,
    "a100-80gb": 81_920, "h100-sxm": 81_559,
}  # fmt: skip


def readings(key):
    """Return the readings of a device in GiB, from the words that a reader sees."""
    return [float(found) for found in re.findall(r"(\d+\.\d\d) \(", DEVICES[key].usable.source)]


def test_every_device_says_what_it_holds_how_that_is_known_and_within_which_band():
    for key, device in DEVICES.items():
        usable = device.usable
        assert usable.num_bytes == device.memory_usable, key
        assert usable.low < usable.amount <= usable.high <= device.memory_sold + 1, key
        assert "{" not in usable.source, key
        if readings(key):
            assert usable.kind == ("estimated" if device.context else "measured"), key
            assert usable.source.count("#") == len(readings(key)), key  # somebody's log each
        else:
            assert usable.kind == "estimated", key


def test_torch_s_own_readings_lie_in_the_band_and_the_value_is_one_of_them():
    seen_so_far = {"a100-80gb": (79.14, 79.35), "rtx-4090": (23.52, 23.68), "t4": (14.56, 14.76)}
    for key, ends in seen_so_far.items():
        assert (min(readings(key)), max(readings(key))) == ends, key
    for key, device in DEVICES.items():
        for reading in readings(key):
            left = reading * GIB - device.context
            assert device.usable.low <= left <= device.usable.high, (key, reading)
        if readings(key):
            assert round((device.memory_usable + device.context) / GIB, 2) in readings(key), key


def test_one_reading_may_be_as_far_off_as_readings_of_one_device_lie_apart():
    apart = [max(found) - min(found) for found in map(readings, DEVICES) if len(found) > 1]
    assert max(apart) == pytest.approx(SPREAD)
    alone = usable_memory({"seen": {"somebody#1": 79.11}}, 80)
    below, above = alone.evidence.band
    assert (below * 79.11, above * 79.11) == pytest.approx((SPREAD, SPREAD))
    below, above = usable_memory({"seen": {"a#1": 2.0, "b#2": 4.0}}, 8).evidence.band
    assert (2 * below, 2 * above) == pytest.approx((HALF_A_DIGIT, 2 + HALF_A_DIGIT))


def test_what_nvidia_s_driver_keeps_is_what_it_keeps_of_devices_with_a_reading():
    kept = [
        reported / 1024 - reading
        for key, reported in REPORTED_MIB.items()
        for reading in readings(key)
    ]
    assert (min(kept), max(kept)) == pytest.approx(KEPT, abs=0.005)
    h200 = usable_memory({"nvidia_smi": 143_771}, 141)
    below, above = h200.evidence.band
    assert h200.gib * (1 - below) < 143_771 / 1024 - max(kept) + 0.01
    assert h200.gib * (1 + above) > 143_771 / 1024 - min(kept) - 0.01


def test_what_the_reader_types_is_the_reader_s_word():
    typed = custom_device(memory=80e9, flops_per_second=1e15, bandwidth=1e12).usable
    assert (typed.kind, typed.low, typed.amount, typed.high) == ("claimed", 80e9, 80e9, 80e9)
    assert typed.source == "as typed in"
