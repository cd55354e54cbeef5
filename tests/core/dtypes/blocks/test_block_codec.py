"""Quantizing in blocks: shapes, edge cases and properties that hold for every format."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.dtypes import BLOCK_FORMATS
from core.dtypes.blocks.block_layout import split_blocks
from core.dtypes.blocks.scale_rules import SCALE_RULES

MXFP4, NF4 = BLOCK_FORMATS["mxfp4"], BLOCK_FORMATS["nf4"]
NAMES = sorted(BLOCK_FORMATS)
MX = [name for name in NAMES if name.startswith("mx")]
INTEGERS = [name for name in NAMES if name.startswith("int")]
SYMMETRIC = [name for name in NAMES if BLOCK_FORMATS[name].symmetric and not name.startswith("nf4")]
SHAPES = [(), (1,), (5,), (33,), (2, 70), (3, 1), (2, 3, 17), (1, 2, 3, 4), (0,), (3, 0), (0, 4)]


def each(names):
    return pytest.mark.parametrize("block", [BLOCK_FORMATS[name] for name in names], ids=names)


def drawn(seed, rows, columns):
    """Return values of very different size, among them zeros, equal ones and powers of two."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, columns)) * 2.0 ** rng.integers(-9, 9, (rows, columns))
    x[rng.random(x.shape) < 0.2] = 0
    x[rng.random(x.shape) < 0.1] = x[0, 0]
    powers = rng.random(x.shape) < 0.1
    x[powers] = 2.0 ** rng.integers(-9, 9, x.shape)[powers]
    return x.astype(np.float32)


tensors = st.builds(drawn, st.integers(0, 2**32), st.integers(1, 3), st.integers(1, 70))
some = settings(max_examples=30)


def normal(*shape, seed=0, scale=1.0):
    return (np.random.default_rng(seed).normal(size=shape) * scale).astype(np.float32)


weights = partial(normal, scale=0.02)


def every_exponent(num_blocks, size):
    """Return blocks of normal values whose size runs through all exponents of float32."""
    rng = np.random.default_rng(1)
    values = np.ldexp(rng.normal(size=(num_blocks, size)), rng.integers(-149, 125, (num_blocks, 1)))
    return values.astype(np.float32)


@each(NAMES)
def test_every_shape_comes_back(block):
    for shape in SHAPES:
        for rule in block.rules:
            quantized = block.quantize(normal(*shape), rule)
            restored = block.dequantize(quantized)
            assert quantized.codes.shape == quantized.clipped.shape == restored.shape == shape
            assert quantized.codes.dtype == np.uint8, shape
            assert restored.dtype == np.float64
            assert np.isfinite(restored).all(), shape
            assert quantized.scales.shape == quantized.scale_codes.shape
            assert quantized.per_value(quantized.scales).shape == shape


@each(NAMES)
def test_zeros_stay_zero_and_nothing_divides_by_them(block):
    x = normal(2, 256)
    x[1, :128] = 0
    for rule in block.rules:
        assert (block.round(np.zeros((2, 70)), rule) == 0).all()
        assert (block.round(x, rule)[1, :128] == 0).all()


@each(NAMES)
@given(x=tensors)
@some
def test_every_value_gets_the_element_nearest_to_it(block, x):
    elements = np.unique(block.element.decode(np.arange(block.element.num_codes)))
    elements = elements[np.isfinite(elements)]
    if block.symmetric:
        elements = elements[elements >= -block.element.max]
    for rule in block.rules:
        quantized = block.quantize(x, rule)
        scales = quantized.scales * (quantized.tensor_scale or 1.0)
        if block.double_quant:  # the codes were chosen under the scale as it was found
            scales = np.abs(split_blocks(x, block.block_size)).max(axis=-1)
        scale = quantized.per_value(scales)[..., None]
        zero = 0 if block.symmetric else quantized.per_value(quantized.zero_points)[..., None]
        distances = np.abs((elements - zero) * scale - x[..., None])
        chosen = np.abs(
            (block.element.decode(quantized.codes)[..., None] - zero) * scale - x[..., None]
        )
        # the scaled value has been rounded to float32 three times
        slack = 2.0**-21 * np.abs(x) + 2.0**-140
        assert (chosen[..., 0] <= distances.min(axis=-1) + slack).all()


@each(MX)
@given(x=tensors, rule=st.sampled_from(SCALE_RULES))
@some
def test_what_mx_restored_is_restored_again(block, x, rule):
    once = block.round(x, rule)
    np.testing.assert_array_equal(block.round(once, rule), once)


@each([name for name in NAMES if name not in {"nvfp4", "nf4_double_quant"}])
def test_a_short_last_block_is_quantized_as_if_it_stood_alone(block):
    if not isinstance(size := block.block_size, int):
        block, size = replace(block, block_size=64), 64
    x = normal(3, 2 * size + 7)
    whole, rest = block.quantize(x), block.quantize(x[:, 2 * size :])
    np.testing.assert_array_equal(whole.codes[:, 2 * size :], rest.codes)
    np.testing.assert_array_equal(whole.scales[:, 2:], rest.scales)


@each([name for name in NAMES if name not in MX])
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_nan_or_an_infinity_spoils_all_that_shares_its_scale(block, wrong):
    x = normal(3, 256)
    x[1, 5] = wrong
    restored = block.round(x)
    size = block.block_size
    whole_tensor = size == "tensor" or block.tensor_scale or block.double_quant
    spoiled = np.zeros(x.shape, bool)
    if whole_tensor:
        spoiled[:] = True
    elif size == "channel":
        spoiled[1] = True
    else:
        spoiled[1, :size] = True
    np.testing.assert_array_equal(np.isnan(restored), spoiled)


@each(MX)
@pytest.mark.parametrize("rule", SCALE_RULES)
def test_a_nan_makes_an_mx_block_nan_and_an_infinity_becomes_the_largest_element(block, rule):
    x = normal(3, 64)
    x[0, 3], x[1, 4] = np.nan, -np.inf
    quantized = block.quantize(x, rule)
    restored = block.dequantize(quantized)
    assert quantized.scale_codes[0].tolist()[0] == 0xFF  # OCP Microscaling v1.0, section 5.4.1
    assert np.isnan(restored[0, :32]).all()
    assert np.isfinite(restored[0, 32:]).all()
    assert np.isfinite(restored[1:]).all()
    assert restored[1, 4] == -block.element.max * quantized.scales[1, 0]
    assert quantized.clipped[1, 4]
    assert (restored[1, :4] == 0).all()


@each(NAMES)
def test_values_as_small_and_as_large_as_float32_allows_neither_warn_nor_become_nan(block):
    for size in (1e-45, 1e-42, 1e-38, 1e-30, 3.4e38):
        x = (np.sign(normal(2, 64)) * size).astype(np.float32)
        for rule in block.rules:
            restored = block.round(x, rule)
            assert np.isfinite(restored).all(), (size, rule)
            assert (np.abs(restored) <= 1.2 * np.abs(x.astype(float)) + 1e-45).all(), (size, rule)


@each(NAMES)
def test_a_number_beyond_float32_counts_as_an_infinity(block):
    lost, clipped = block.round([1e300, 1.0]), block.quantize([1e300, 1.0]).clipped
    assert clipped.tolist() == [True, False] if block.name in MX else np.isnan(lost).all()


def test_an_affine_range_is_widened_to_hold_zero():
    block = BLOCK_FORMATS["int8_tensor_affine"]
    above, below = block.quantize([2.0, 5.1]), block.quantize([-2.0, -5.1])
    assert above.zero_points.tolist() == [0]
    assert below.zero_points.tolist() == [255]
    assert block.round([-1.0, 0.0, 3.0])[1] == 0.0
    np.testing.assert_array_equal(block.round([0.0, 255.0, 100.0]), [0.0, 255.0, 100.0])


def test_a_scale_that_float16_cannot_hold_is_its_largest_number_and_the_values_are_clipped():
    block = BLOCK_FORMATS["int4_group128"]
    quantized = block.quantize([1e7, 1.0])
    assert quantized.scales.tolist() == [65504.0]
    assert quantized.clipped.tolist() == [True, False]
    assert block.dequantize(quantized).tolist() == [7 * 65504.0, 0.0]
    # a scale that underflows leaves zeros
    assert (BLOCK_FORMATS["int8_group128"].round(np.full(4, 1e-7)) == 0).all()


def test_nvfp4_keeps_its_block_scales_above_the_smallest_normal_number():
    x = np.full(32, 1e-6, np.float32)
    x[:16] = 1.0
    quantized = BLOCK_FORMATS["nvfp4"].quantize(x)
    assert quantized.scales.tolist() == [448.0, 2.0**-6]
    assert quantized.tensor_scale == np.float32(1 / 2688)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: MXFP4.quantize([1.0], "amax"), "amax is not one of mxfp4: use floor, ceil, "),
        (lambda: NF4.quantize([1.0], "floor"), r"rule floor is not one of nf4: use amax\."),
        (lambda: MXFP4.quantize([1j]), "A tensor of complex128 cannot be quantized"),
        (lambda: MXFP4.quantize(["a"]), "A tensor of <U1 cannot be quantized"),
        (lambda: NF4.dequantize(MXFP4.quantize([1.0])), "of mxfp4 cannot be read as nf4"),
        (lambda: replace(MXFP4, block_size=0), "A block of 0 values"),
    ],
)
def test_what_cannot_be_quantized_says_why(act, message):
    with pytest.raises(ValueError, match=message):
        act()
