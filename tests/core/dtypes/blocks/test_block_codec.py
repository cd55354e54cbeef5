"""Quantizing in blocks: shapes, edge cases and properties that hold for every format."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.dtypes import BLOCK_FORMATS, SCALE_RULES
from core.dtypes.blocks.scale_rules import top_gap

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
            assert quantized.scales.shape == quantized.amax.shape == quantized.scale_codes.shape
            assert quantized.per_value(quantized.scales).shape == shape
            assert (quantized.name, quantized.rule) == (block.name, rule)


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
            scales = quantized.amax
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
def test_the_error_of_a_value_that_was_not_clipped_is_half_a_unit_in_the_last_place(block, x, rule):
    quantized = block.quantize(x, rule)
    scale = quantized.per_value(quantized.scales)
    exponents = np.frexp(np.abs(x / scale))[1] - 1
    gap = top_gap(block.element)
    lowest = np.frexp(block.element.smallest_normal)[1] - 1
    if block.name == "mxint8":
        ulp = np.full(x.shape, gap)
    else:
        places = np.frexp(block.element.max)[1] - np.frexp(gap)[1]
        ulp = np.ldexp(1.0, np.maximum(exponents, lowest) - places)
    error = np.abs(block.dequantize(quantized) - x) / scale
    assert (error[~quantized.clipped] <= ulp[~quantized.clipped] / 2).all()
    assert (np.abs(x / scale)[quantized.clipped] > block.element.max).all()


@each(INTEGERS)
@given(x=tensors)
@some
def test_an_integer_is_at_most_half_a_scale_away(block, x):
    quantized = block.quantize(x)
    error = np.abs(block.dequantize(quantized) - x)
    half = quantized.per_value(quantized.scales) * (0.5 + 1e-4)
    assert (error[~quantized.clipped] <= half[~quantized.clipped]).all()


@each(MX)
@given(x=tensors, rule=st.sampled_from(SCALE_RULES))
@some
def test_what_mx_restored_is_restored_again(block, x, rule):
    once = block.round(x, rule)
    np.testing.assert_array_equal(block.round(once, rule), once)


@each([name for name in NAMES if name not in {*MX, "nf4_double_quant"}])
def test_what_was_restored_has_the_same_codes_again(block):
    # The scale may move by a rounding of float32, and a code with it only at a tie.
    quantized = block.quantize(normal(16, 256))
    again = block.quantize(block.dequantize(quantized))
    np.testing.assert_array_equal(
        again.codes & 0x7F, quantized.codes & 0x7F
    )  # -0 may lose its sign
    np.testing.assert_allclose(again.scales, quantized.scales, rtol=1e-6)


@each(SYMMETRIC)
@given(x=tensors)
@some
def test_the_mirror_image_is_quantized_to_the_mirror_image(block, x):
    for rule in block.rules:
        np.testing.assert_array_equal(block.round(-x, rule), -block.round(x, rule))


@pytest.mark.parametrize("name", MX)
def test_a_power_of_two_moves_the_scale_and_no_code(name):
    x = normal(4, 64)
    for rule in SCALE_RULES:
        small, large = (BLOCK_FORMATS[name].quantize(part, rule) for part in (x, x * 1024))
        np.testing.assert_array_equal(small.codes, large.codes)
        np.testing.assert_array_equal(small.scale_codes.astype(int) + 10, large.scale_codes)


@each([name for name in NAMES if name not in {"nvfp4", "nf4_double_quant"}])
def test_a_short_last_block_is_quantized_as_if_it_stood_alone(block):
    if not isinstance(size := block.block_size, int):
        block, size = replace(block, block_size=64), 64
    x = normal(3, 2 * size + 7)
    whole, rest = block.quantize(x), block.quantize(x[:, 2 * size :])
    np.testing.assert_array_equal(whole.codes[:, 2 * size :], rest.codes)
    np.testing.assert_array_equal(whole.scales[:, 2:], rest.scales)


@pytest.mark.parametrize("name", NAMES)
def test_a_block_of_one_value_restores_it_but_for_the_precision_of_its_scale(name):
    block = replace(BLOCK_FORMATS[name], block_size=1)
    x = normal(50)
    restored = block.round(x)
    coarse = {"nvfp4": 0.07, "nvfp4_one_level": 0.07, "nf4_double_quant": 0.25, "mxfp4": 0.34}
    by_name = 2.0**-10 if "group" in name else 1e-6
    loose = coarse.get(name, 0.15 if name in MX else by_name)
    far = np.abs(x) > (0.1 if name.startswith("nvfp4") else 0.0)
    if name != "nf4" and not name.startswith("nf4_"):
        np.testing.assert_allclose(restored[far], x[far], rtol=loose)
    else:
        np.testing.assert_allclose(restored, x, atol=0.05 if block.double_quant else 1e-6)


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


@each(INTEGERS)
def test_integers_use_their_range(block):
    x = normal(8, 256)
    codes = block.element.decode(block.quantize(x).codes)
    assert np.abs(codes).max() == block.element.max
    if not block.symmetric:
        assert codes.min() == 0


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


def test_stochastic_rounding_keeps_the_mean():
    rng = np.random.default_rng(5)
    x = np.full(20000, 0.3, np.float32)
    x[::32] = 6.0
    restored = MXFP4.dequantize(MXFP4.quantize(x, rounding="stochastic", rng=rng))
    small = restored[x < 1]
    assert set(np.unique(small)) == {0.0, 0.5}
    assert small.mean() == pytest.approx(0.3, abs=0.01)
    with pytest.raises(ValueError, match="default_rng"):
        BLOCK_FORMATS["int4_group128_affine"].quantize(x, rounding="stochastic")


@pytest.mark.parametrize("rounding", ["toward_zero", "up", "down", "nearest_away"])
def test_other_roundings_reach_integers_with_and_without_a_zero_point(rounding):
    x = normal(4, 128)
    for name in ("int4_group128", "int4_group128_affine"):
        block = BLOCK_FORMATS[name]
        quantized = block.quantize(x, rounding=rounding)
        error = block.dequantize(quantized) - x
        assert (np.abs(error) <= 1.01 * quantized.per_value(quantized.scales)).all()
        if rounding == "up":
            assert (error[~quantized.clipped] >= -1e-6).all()


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: MXFP4.quantize([1.0], "amax"), "amax is not one of mxfp4: use floor, ceil, "),
        (lambda: NF4.quantize([1.0], "floor"), r"rule floor is not one of nf4: use amax\."),
        (lambda: MXFP4.quantize([1.0], rounding="fair"), "rounding 'fair' is not known"),
        (lambda: MXFP4.quantize([1j]), "A tensor of complex128 cannot be quantized"),
        (lambda: MXFP4.quantize(["a"]), "A tensor of <U1 cannot be quantized"),
        (lambda: NF4.dequantize(MXFP4.quantize([1.0])), "of mxfp4 cannot be read as nf4"),
        (lambda: replace(MXFP4, block_size=0), "A block of 0 values"),
    ],
)
def test_what_cannot_be_quantized_says_why(act, message):
    with pytest.raises(ValueError, match=message):
        act()
