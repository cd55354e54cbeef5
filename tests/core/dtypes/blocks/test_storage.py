"""Plain casts and block formats behind one door, tried in many ways on the same tensor."""

import math

import numpy as np
import pytest

from core.dtypes import BLOCK_FORMATS, FORMATS, error_stats
from core.dtypes.blocks.storage import (
    GROUP_SIZES,
    STORAGE_NAMES,
    find_storage,
    has_group_size,
    has_scale_rule,
)
from core.dtypes.blocks.storage_trials import (
    Trial,
    best_per_bit,
    try_all,
    try_rules,
    try_sizes,
)
from core.dtypes.blocks.teaching_tensors import SAMPLE_NAMES, looked_at, teaching_tensor


@pytest.fixture(scope="module")
def normal():
    return looked_at(teaching_tensor("normal", 256, 0))


@pytest.mark.parametrize("name", STORAGE_NAMES)
def test_number_times_scale_is_what_comes_back(name, normal):
    part = normal[:8, :200]
    kept = find_storage(name, "rceil", 64).store(part)

    scales = 1.0 if kept.blocks is None else kept.scales[kept.blocks.astype(int)]
    assert np.allclose(kept.numbers * scales, kept.restored, rtol=1e-12, atol=0)
    assert kept.stats == error_stats(part, kept.restored, kept.clipped)
    assert kept.codes.shape == part.shape


def test_a_plain_cast_is_the_format_itself(normal):
    storage = find_storage("bfloat16", "floor", 32)

    assert np.array_equal(storage.round(normal), FORMATS["bfloat16"].round(normal))
    assert storage.bits_per_value == 16
    assert storage.code == "find_storage('bfloat16')"


def test_only_mx_formats_hear_the_scale_rule_and_only_groups_the_group_size():
    assert {name for name in STORAGE_NAMES if has_scale_rule(name)} == {
        *("mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e2m3", "mxfp6_e3m2", "mxfp4", "mxint8")
    }
    assert {name for name in STORAGE_NAMES if has_group_size(name)} == {
        *("int8_group128", "int4_group128", "int4_group128_affine")
    }
    assert find_storage("nvfp4", "ceil", 32) == find_storage("nvfp4")
    assert find_storage("mxfp4", "ceil").rule == "ceil"


@pytest.mark.parametrize("size", GROUP_SIZES)
def test_a_smaller_group_costs_the_bits_of_more_scales(size):
    storage = find_storage("int4_group128_affine", group_size=size)

    assert storage.name == f"int4_group{size}_affine"
    assert storage.bits_per_value == 4 + (16 + 4) / size


def test_the_code_of_a_storage_makes_the_same_storage():
    for storage in (
        find_storage("mxfp8_e5m2", "even"),
        find_storage("int8_group128", group_size=32),
        find_storage("nf4"),
    ):
        assert eval(storage.code, {"find_storage": find_storage}) == storage  # noqa: S307


def test_an_unknown_storage_and_an_empty_group_are_refused():
    with pytest.raises(ValueError, match=r"float7"):
        find_storage("float7")
    with pytest.raises(ValueError, match=r"A block of 0 values: use 1 or more"):
        find_storage("int8_group128", group_size=0)


# Measured with a million values in the product's own reference; 65,536 differ by tenths of a dB.
EXPECTED_DB = {
    "float16": 73.7,
    "bfloat16": 55.6,
    "float8_e4m3fn": 29.6,
    "float8_e5m2": 25.6,
    "int8_tensor": 38.9,
    "int8_group128": 43.8,
    "int4_tensor": 13.7,
    "int4_group128": 18.6,
    "int4_group128_affine": 20.0,
    "nf4": 20.7,
    "mxfp8_e4m3": 30.6,
    "mxfp4": 18.9,
    "nvfp4": 20.4,
}


def test_the_quality_on_normal_values_is_the_known_one(normal):
    trials = try_all(normal, [find_storage(name) for name in EXPECTED_DB])

    for trial in trials:
        assert trial.sqnr_db == pytest.approx(EXPECTED_DB[trial.name], abs=0.6), trial.name


def test_nf4_wins_on_normal_values_and_nvfp4_on_outliers(normal):
    formats = [find_storage("nf4"), find_storage("nvfp4")]
    outliers = looked_at(teaching_tensor("with_outliers", 256, 0))

    nf4, nvfp4 = try_all(normal, formats)
    assert nf4.sqnr_db > nvfp4.sqnr_db
    nf4, nvfp4 = try_all(outliers, formats)
    assert nvfp4.sqnr_db > nf4.sqnr_db + 2


def test_what_is_beaten_in_size_and_quality_is_not_among_the_best():
    trials = [
        Trial(name="small", bits=4, sqnr_db=20),
        Trial(name="beaten", bits=5, sqnr_db=19),
        Trial(name="twin", bits=4, sqnr_db=18),
        Trial(name="large", bits=8, sqnr_db=40),
        Trial(name="exact", bits=9, sqnr_db=math.inf),
        Trial(name="lost", bits=3, sqnr_db=math.nan),
        Trial(name="half lost", bits=3, sqnr_db=50, lost_share=0.5),
    ]

    assert [trial.name for trial in best_per_bit(trials)] == ["small", "large"]


def test_floor_clips_957_to_896_and_rceil_keeps_it():
    ramp = looked_at(teaching_tensor("ramp", 64, 0))

    floor, ceil, even, rceil = try_rules(ramp, BLOCK_FORMATS["mxfp8_e4m3"])

    assert (floor.largest, floor.largest_restored) == (957, 896)
    assert rceil.largest_restored == ceil.largest_restored == 960
    assert floor.num_overfull == floor.fullness.size == 128
    assert rceil.num_overfull == ceil.num_overfull == 0
    assert floor.exponents[0] == 1
    assert rceil.exponents[0] == 2
    assert floor.fullness[0] == pytest.approx(957 / 896)
    assert even.rule == "even"


def test_rules_of_zeros_and_of_a_block_with_nan_are_defined():
    for name in ("all_zero", "one_nan"):
        x = looked_at(teaching_tensor(name, 64, 0))
        for trial in try_rules(x, BLOCK_FORMATS["mxfp4"]):
            assert np.isfinite(trial.largest), (name, trial.rule)
            assert trial.stats.num_ignored == (name == "one_nan")


def test_larger_groups_are_smaller_and_worse(normal):
    trials = [each for each in try_sizes(normal[:64]) if each.family == "int4_group128"]

    bits = [trial.bits for trial in trials]
    quality = [trial.sqnr_db for trial in trials if trial.size != "channel"]
    assert bits == sorted(bits, reverse=True)
    assert quality == sorted(quality, reverse=True)


@pytest.mark.parametrize("name", SAMPLE_NAMES)
def test_a_teaching_tensor_is_the_same_for_the_same_seed(name):
    first, second = (teaching_tensor(name, 64, 7) for _ in range(2))

    assert np.array_equal(first, second, equal_nan=True)
    assert first.shape == (64, 64)
    assert int(np.isnan(first).sum()) == (name == "one_nan")


def test_every_block_of_the_ramp_rises_to_957():
    blocks = teaching_tensor("ramp", 64, 0).reshape(-1, 32)

    assert (blocks.max(axis=1) == 957).all()
    assert (np.diff(blocks, axis=1) > 0).all()


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((), (1, 1)),
        ((7,), (1, 7)),
        ((3, 5), (3, 5)),
        ((2, 3, 5), (6, 5)),
        ((1000, 1000), (262, 1000)),
        ((300_000,), (1, 1 << 18)),
        ((3, 0, 5), None),
        ((0,), None),
    ],
)
def test_a_tensor_is_looked_at_as_rows_and_columns(shape, expected):
    x = np.zeros(shape, dtype=np.float32)
    if expected is None:
        with pytest.raises(ValueError, match=r"holds no value; choose one with at least one"):
            looked_at(x)
    else:
        assert looked_at(x).shape == expected
        assert looked_at(x).dtype == np.float64
