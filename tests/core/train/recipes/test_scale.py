"""The same choice at 7B and 70B, held against rules that are printed elsewhere."""

import pytest

from core.train.recipes.choices import PRESETS, Comparison
from core.train.recipes.scale import SIZES, at_scale
from core.units import GIB


@pytest.mark.parametrize("size", SIZES)
def test_every_preset_has_bytes_and_seconds_at_both_sizes(size):
    for key, preset in PRESETS.items():
        for row in at_scale(preset.comparison, size):
            assert row.memory.item.amount > 0, key
            assert row.seconds.low <= row.seconds.amount <= row.seconds.high, key


def test_all_in_bf16_saves_six_bytes_of_each_parameter_over_its_devices():
    master, pure, _fp8 = at_scale(PRESETS["master"].comparison, "7B")
    states = 6_738_415_616 * (4 + 8 - 2 - 4) / 8  # weights and two moments; 8 devices
    saved = master.memory.item.amount - pure.memory.item.amount
    assert saved == pytest.approx(1.05 * states, rel=0.001)  # and the allocator's reserve


def test_fp8_is_faster_by_less_than_two_and_takes_no_byte_less():
    master, _pure, fp8 = at_scale(PRESETS["master"].comparison, "7B")
    assert fp8.memory.item.amount == master.memory.item.amount
    assert 1.4 < master.seconds.amount / fp8.seconds.amount < 2


def test_fp8_stands_only_beside_formats_and_clipping_changes_nothing():
    once, again = at_scale(Comparison(axis="clipping", values=("1", "off")), "7B")
    assert not again.is_counted
    assert once.memory.item.amount == again.memory.item.amount
    assert once.memory.item.amount / GIB == pytest.approx(22.3, abs=0.1)
