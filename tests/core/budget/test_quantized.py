"""Bytes of quantized weights against bits counted by hand and against the block formats' own."""

import pytest

from core.budget.quantized import quantized_weights
from core.dtypes import BLOCK_FORMATS, FORMATS
from core.units import GIB

SEVEN = 7 * 10**9


@pytest.mark.parametrize("name", [*BLOCK_FORMATS, "bfloat16", "float8_e4m3fn", "float4_e2m1fn"])
def test_the_bytes_are_the_bits_per_value(name):
    fmt = BLOCK_FORMATS.get(name) or FORMATS[name]
    bits = fmt.bits_per_value if name in BLOCK_FORMATS else fmt.bits

    assert quantized_weights(SEVEN, fmt).amount == pytest.approx(
        SEVEN * bits / 8,
        abs=8,  # a begun block counts whole
    )


@pytest.mark.parametrize(
    ("name", "gib"),
    [
        ("int4_group128", 7e9 * 4.125 / 8 / GIB),
        ("nf4_double_quant", 7e9 * 4.126953125 / 8 / GIB),
        ("mxfp4", 7e9 * 4.25 / 8 / GIB),
    ],
)
def test_seven_billion_weights_by_hand(name, gib):
    assert quantized_weights(SEVEN, BLOCK_FORMATS[name]).amount / GIB == pytest.approx(gib)


def test_the_parts_are_named_and_add_up():
    affine = quantized_weights(SEVEN, BLOCK_FORMATS["int4_group128_affine"])
    double = quantized_weights(SEVEN, BLOCK_FORMATS["nf4_double_quant"])

    assert [part.name for part in affine.children] == ["codes", "scales", "zero points"]
    assert [part.name for part in double.children] == ["codes", "scales", "scales of the scales"]
    for item in (affine, double):
        assert item.amount == sum(part.amount for part in item.children)
        assert item.num_bytes == item.amount


def test_a_begun_byte_and_a_begun_block_count_whole():
    assert quantized_weights(1, BLOCK_FORMATS["nvfp4"]).num_bytes == 1 + 1
    assert quantized_weights(3, FORMATS["float4_e2m1fn"]).num_bytes == 2
    assert quantized_weights(129, BLOCK_FORMATS["int4_group128"]).num_bytes == 65 + 2 * 2
    assert quantized_weights(65, BLOCK_FORMATS["nf4_double_quant"]).num_bytes == 33 + 2 + 4


def test_one_scale_for_a_tensor_is_left_out():
    assert quantized_weights(SEVEN, BLOCK_FORMATS["int8_tensor"]).num_bytes == SEVEN
