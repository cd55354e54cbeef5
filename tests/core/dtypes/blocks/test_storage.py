"""Plain casts and block formats behind one door, tried in many ways on the same tensor."""

from dataclasses import replace

import numpy as np
import pytest

from core.dtypes import FORMATS, error_stats
from core.dtypes.blocks.sample_tensors import looked_at, teaching_tensor
from core.dtypes.blocks.storage import (
    GROUP_SIZES,
    STORAGE_NAMES,
    find_storage,
    has_group_size,
    has_scale_rule,
)


@pytest.fixture(scope="module")
def normal():
    return looked_at(teaching_tensor("normal", 256, 0))


@pytest.mark.parametrize("name", STORAGE_NAMES)
def test_number_times_scale_is_what_comes_back(name, normal):
    part = normal[:8, :200]
    kept = find_storage(name, "rceil", 64).store(part)
    scales = 1.0 if kept.blocks is None else kept.scales[kept.blocks.astype(int)]
    assert np.allclose(kept.numbers * scales, kept.restored, rtol=1e-12, atol=0)
    assert replace(kept.stats, num_clipped=None) == error_stats(part, kept.restored)
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
