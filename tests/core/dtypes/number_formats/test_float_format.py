"""Floats: what a code means, extreme designs, and numbers to codes in every mode and policy.

The oracles are exact fractions, gfloat, struct, numpy and ml_dtypes.
"""

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from gfloat import RoundMode, formats, round_ndarray
from hypothesis import given
from hypothesis import strategies as st

from core.dtypes import FORMATS, OVERFLOWS, ROUNDINGS, FloatFormat, float_format

FLOATS = [name for name, fmt in FORMATS.items() if isinstance(fmt, FloatFormat)]
DETERMINED = [mode for mode in ROUNDINGS if mode != "stochastic"]
GFLOAT_MODES = {
    "nearest_even": RoundMode.TiesToEven,
    "nearest_away": RoundMode.TiesToAway,
    "toward_zero": RoundMode.TowardZero,
    "up": RoundMode.TowardPositive,
    "down": RoundMode.TowardNegative,
}
GFLOAT_FORMATS = {
    "float16": formats.format_info_binary16,
    "bfloat16": formats.format_info_bfloat16,
    "float8_e4m3fn": formats.format_info_ocp_e4m3,
    "float8_e5m2": formats.format_info_ocp_e5m2,
    "float6_e2m3fn": formats.format_info_ocp_e2m3,
    "float6_e3m2fn": formats.format_info_ocp_e3m2,
    "float4_e2m1fn": formats.format_info_ocp_e2m1,
}


def each(names):
    return pytest.mark.parametrize("fmt", [FORMATS[name] for name in names], ids=names)


def same(ours, known):
    """Say whether two arrays hold the same numbers, signs of zero included."""
    told = ~np.isnan(known)
    signs = np.array_equal(np.signbit(ours[told]), np.signbit(known[told]))
    return np.array_equal(ours, known, equal_nan=True) and signs


def telling_inputs(fmt, seed=0):
    """Return numbers around every boundary of a format, and random ones."""
    rng = np.random.default_rng(seed)
    low, high = math.log2(max(fmt.smallest_subnormal, 1e-300)) - 3, math.log2(min(fmt.max, 1e300))
    random = np.exp2(rng.uniform(low, high + 2, 4000))
    grid = np.abs(fmt.round(random[:1500]))
    grid = grid[np.isfinite(grid)]
    step = np.maximum(grid * fmt.eps, fmt.smallest_subnormal) / 2
    ends = [fmt.max, fmt.max * (1 + fmt.eps / 4), fmt.smallest_normal, fmt.smallest_subnormal]
    values = [random, grid, grid + step, np.nextafter(grid + step, 0), np.array([0.0, *ends])]
    magnitudes = np.concatenate(values)
    return np.concatenate([magnitudes, -magnitudes])


@pytest.mark.parametrize("name", GFLOAT_FORMATS)
def test_gfloat_rounds_alike_in_five_modes_saturating_or_not(name):
    fmt, info = FORMATS[name], GFLOAT_FORMATS[name]
    values = telling_inputs(fmt)
    for rounding, mode in GFLOAT_MODES.items():
        saturated = round_ndarray(info, values, mode, sat=True)
        assert same(fmt.round(values, rounding, "saturate"), saturated), rounding
        if fmt.nan_code is not None:
            known = round_ndarray(info, values, mode, sat=False)
            assert same(fmt.round(values, rounding), known), rounding


def test_gfloat_rounds_alike_in_the_formats_of_ieee_p3109():
    rng = np.random.default_rng(1)
    values = np.exp2(rng.uniform(-20, 20, 2000)) * rng.choice([-1.0, 1.0], 2000)
    for width in range(3, 9):
        for precision in range(1, width):
            info = formats.format_info_p3109(width, precision)
            try:
                fmt = float_format(
                    "p3109", width - precision, precision - 1, info.bias, num_nans=0,
                    negative_zero=False,
                )  # fmt: skip
            except ValueError:
                continue
            for rounding, mode in GFLOAT_MODES.items():
                if precision == 1 and rounding == "nearest_even":
                    continue  # P3109 counts parity by code where the significand has one bit
                known = round_ndarray(info, values, mode, sat=False)
                assert same(fmt.round(values, rounding), known), (width, precision, rounding)


@each(FORMATS)
def test_a_number_of_the_format_is_returned_unchanged_by_every_mode(fmt):
    step = max(fmt.num_codes // 5000, 1)
    codes = np.arange(0, fmt.num_codes, step, dtype=np.uint64) if fmt.bits == 64 else np.arange(
        0, fmt.num_codes, step
    )  # fmt: skip
    values = fmt.decode(codes)
    codes, values = codes[~np.isnan(values)], values[~np.isnan(values)]
    for rounding in ROUNDINGS:
        back = fmt.encode(values, rounding, rng=np.random.default_rng(0))
        assert np.array_equal(back, codes), rounding


@each(FLOATS)
def test_specials_stay_what_they_are_if_the_format_has_them(fmt):
    infinity, nan = fmt.round([np.inf, np.nan])
    if fmt.infinity:
        assert infinity == np.inf
    else:
        assert np.isnan(infinity) if fmt.nan_code is not None else infinity == fmt.max
    assert np.isnan(nan) if fmt.nan_code is not None else nan == 0
    assert fmt.round([np.inf], overflow="saturate")[0] == fmt.max
    lowest = fmt.round([-np.inf], overflow="saturate")[0]
    assert lowest == -fmt.max if fmt.signed else np.isnan(lowest)


@each(FLOATS)
def test_zero_keeps_its_sign_where_the_format_has_two(fmt):
    zeros = fmt.round([0.0, -0.0])
    if not fmt.zero:
        assert zeros.tolist() == [2.0**-127, 2.0**-127], "the nearest number there is"
        return
    assert zeros.tolist() == [0.0, 0.0]
    assert np.signbit(zeros).tolist() == [False, fmt.negative_zero]
    if not fmt.negative_zero:  # a tiny negative number becomes the only zero
        assert fmt.encode([-1e-30, -0.0]).tolist() == [0, 0]


# OCP OFP8 v1.0 table 3 and section 4 of IEEE 754, typed by hand: value -> what is left of it.
OVERFLOWING = [
    ("float16", 65519.99, 65504.0, 65504.0),
    ("float16", 65520.0, np.inf, 65504.0),
    ("bfloat16", 3.39617752923046e38, np.inf, 3.3895313892515355e38),
    ("float8_e4m3fn", 464.0, 448.0, 448.0),
    ("float8_e4m3fn", 464.1, np.nan, 448.0),
    ("float8_e4m3fn", 465.0, np.nan, 448.0),
    ("float8_e4m3fn", np.inf, np.nan, 448.0),
    ("float8_e5m2", 61439.9, 57344.0, 57344.0),
    ("float8_e5m2", 61440.0, np.inf, 57344.0),
    ("float8_e4m3fnuz", 247.9, 240.0, 240.0),
    ("float8_e4m3fnuz", 248.0, np.nan, 240.0),
    ("float8_e5m2fnuz", 61440.0, np.nan, 57344.0),
    ("float4_e2m1fn", 7.0, 6.0, 6.0),
    ("float6_e3m2fn", np.inf, 28.0, 28.0),
    ("float8_e8m0fnu", 1.4 * 2.0**127, 2.0**127, 2.0**127),
    ("float8_e8m0fnu", 1.5 * 2.0**127, np.nan, 2.0**127),
]


@pytest.mark.parametrize(("name", "value", "default", "saturated"), OVERFLOWING)
def test_an_overflow_ends_where_its_specification_says(name, value, default, saturated):
    fmt = FORMATS[name]
    assert np.array_equal(fmt.round([value]), [default], equal_nan=True)
    assert fmt.round([value], overflow="saturate").tolist() == [saturated]


@pytest.mark.parametrize(("name", "letter"), [("float16", "e"), ("float32", "f")])
def test_struct_packs_the_same_codes(name, letter):
    fmt = FORMATS[name]
    values = telling_inputs(fmt)
    largest = fmt.max * (1 + fmt.eps / 4)
    values = [*values[np.abs(values) < largest].tolist(), 0.0, -0.0, np.inf, -np.inf]
    known = [int.from_bytes(struct.pack(f"<{letter}", value), "little") for value in values]
    assert fmt.encode(values).tolist() == known


def test_float64_keeps_every_bit():
    codes = np.random.default_rng(0).integers(0, 2**64, 20_000, np.uint64)
    values = codes.view(np.float64)
    codes, values = codes[~np.isnan(values)], values[~np.isnan(values)]
    assert np.array_equal(FORMATS["float64"].encode(values), codes)
    assert np.array_equal(FORMATS["float64"].decode(codes), values)


def test_a_float64_is_rounded_once_and_not_by_way_of_float32():
    value = 1 + 2.0**-11 + 2.0**-40
    assert FORMATS["float16"].round([value])[0] == np.float16(value) == 1 + 2.0**-10
    assert FORMATS["float16"].round(np.float32([value]))[0] == 1.0


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0, 2), (2, 3, 4)])
@each(["float16", "int8", "nf4"])
def test_the_shape_of_the_input_is_the_shape_of_the_output(fmt, shape):
    codes = fmt.encode(np.full(shape, 0.7))
    assert codes.shape == fmt.decode(codes).shape == fmt.round(np.full(shape, 0.7)).shape == shape
    assert codes.dtype == fmt.code_dtype


def test_order_in_memory_does_not_matter_and_the_input_is_never_written_to():
    values = np.random.default_rng(0).normal(size=(300, 400))
    fmt = FORMATS["float8_e4m3fn"]
    assert np.array_equal(fmt.encode(values.T), fmt.encode(values).T)
    assert np.array_equal(fmt.encode(values[::-3, ::2]), fmt.encode(values)[::-3, ::2])
    values = np.array([0.3, -70000.0, np.nan, np.inf])
    values.flags.writeable = False
    for name in FORMATS:
        FORMATS[name].encode(values)


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([256], "code 256 is no code of float8_e5m2: use 0 to 255"),
        ([-1], "code -1 is no code of float8_e5m2: use 0 to 255"),
        ([1.5], "codes are whole numbers, not float64"),
    ],
)
def test_what_is_no_code_is_refused(codes, message):
    with pytest.raises(ValueError, match=message):
        FORMATS["float8_e5m2"].decode(codes)


def test_an_unknown_policy_and_missing_randomness_are_refused():
    with pytest.raises(ValueError, match="rounding 'odd' is not known"):
        FORMATS["float16"].encode([1.0], "odd")
    with pytest.raises(ValueError, match=r"needs rng=numpy.random.default_rng\(seed\)"):
        FORMATS["float16"].encode([1.0], "stochastic")


@each(["float16", "bfloat16", "float8_e4m3fn", "float4_e2m1fn", "int8", "nf4"])
@pytest.mark.parametrize("start", [0.5, -3.0])
def test_stochastic_rounding_is_right_on_average(fmt, start):
    rng, num = np.random.default_rng(7), 20_000
    low, high = sorted(fmt.decode(fmt.encode([start]) + np.arange(2, dtype=fmt.code_dtype)))
    for share in (0.02, 0.3, 0.5, 0.9):
        rounded = fmt.round(np.full(num, low + share * (high - low)), "stochastic", rng=rng)
        assert set(rounded.tolist()) == {low, high}
        sigma = np.sqrt(share * (1 - share) / num)
        assert abs((rounded - low).mean() / (high - low) - share) < 5 * sigma, share


finite = st.floats(allow_nan=False, allow_infinity=False)
any_format = st.sampled_from([FORMATS[name] for name in FLOATS])


@given(any_format, st.lists(finite, min_size=2, max_size=20), st.sampled_from(DETERMINED))
def test_rounding_never_turns_the_order_of_two_numbers_round(fmt, values, rounding):
    if not fmt.signed:
        values = [abs(value) for value in values]
    rounded = fmt.round(sorted(values), rounding, "saturate")
    assert (np.diff(rounded) >= 0).all()


@given(any_format, finite)
def test_the_error_is_at_most_half_a_unit_in_the_last_place(fmt, value):
    magnitude = abs(value)
    if magnitude > fmt.max:
        return
    exponent = max(
        math.frexp(magnitude)[1] - 1 if magnitude else fmt.min_exponent, fmt.min_exponent
    )
    half = Fraction(2) ** (exponent - fmt.mantissa_bits) / 2
    if not fmt.zero and magnitude < fmt.smallest_normal:
        return  # below the smallest number of a format without zero
    assert abs(Fraction(float(fmt.round([magnitude])[0])) - Fraction(magnitude)) <= half


@given(any_format, finite, st.sampled_from(OVERFLOWS))
def test_the_opposite_number_is_rounded_to_the_opposite(fmt, value, overflow):
    if not fmt.signed:
        return
    mirrored = {"up": "down", "down": "up"}
    for rounding in DETERMINED:
        ours = fmt.round([value], rounding, overflow)
        mirror = -fmt.round([-value], mirrored.get(rounding, rounding), overflow)
        assert np.array_equal(ours, mirror, equal_nan=True), rounding


@given(any_format, finite)
def test_up_and_down_are_the_neighbours_on_both_sides(fmt, value):
    if abs(value) > fmt.max or (not fmt.zero and value < fmt.smallest_normal):
        return
    low, high = fmt.round([value], "down")[0], fmt.round([value], "up")[0]
    assert low <= value <= high
    assert fmt.round([value])[0] in (low, high)


@pytest.mark.parametrize(("name", "letter"), [("float16", "e"), ("float32", "f"), ("float64", "d")])
def test_struct_reads_the_same_number(name, letter):
    fmt = FORMATS[name]
    random = np.random.default_rng(0).integers(0, fmt.num_codes, 3000, fmt.code_dtype).tolist()
    top = 1 << fmt.magnitude_bits
    for code in [0, top, 1, top - 1, fmt.max_code, fmt.infinity_code, fmt.nan_code, *random]:
        known = struct.unpack(f"<{letter}", code.to_bytes(fmt.bits // 8, "little"))[0]
        assert np.array_equal(fmt.decode([code])[0], known, equal_nan=True), hex(code)
        exact = fmt.exact(code)
        assert exact == (Fraction(known) if np.isfinite(known) else str(abs(known))), hex(code)


def test_specials_have_the_codes_and_exponents_the_ends_of_their_standards():
    for name, specials, exponents in (
        ("float16", (0x7C00, 0x7E00), (-14, 15)),
        ("bfloat16", (0x7F80, 0x7FC0), (-126, 127)),
        ("float8_e5m2", (0x7C, 0x7E), (-14, 15)),
        ("float8_e4m3fn", (None, 0x7F), (-6, 8)),
        ("float8_e4m3fnuz", (None, 0x80), (-7, 7)),
        ("float8_e8m0fnu", (None, 0xFF), (-127, 127)),
        ("float4_e2m1fn", (None, None), (0, 2)),
    ):
        fmt = FORMATS[name]
        assert (fmt.infinity_code, fmt.nan_code) == specials, name
        assert (fmt.min_exponent, fmt.max_exponent) == exponents, name


def test_without_an_exponent_a_float_is_a_fixed_point_number():
    fmt = float_format("fixed", 0, 7, 1, infinity=False, num_nans=0)
    assert fmt.decode(np.arange(128)).tolist() == [code / 128 for code in range(128)]
    assert (fmt.max, fmt.smallest_subnormal, fmt.counts().normals) == (127 / 128, 1 / 128, 0)
    assert (fmt.round([0.3, 0.996, 50.0, -50.0]) * 128).tolist() == [38, 127, 127, -127]


def test_without_a_mantissa_a_float_is_a_power_of_two():
    fmt = float_format("powers", 4, 0, infinity=False, num_nans=0)
    values = fmt.decode(np.arange(16))
    assert values[0] == 0
    assert values[1:].tolist() == [2.0 ** (field - 7) for field in range(1, 16)]
    assert fmt.smallest_subnormal == fmt.smallest_normal == 2.0**-6
    assert fmt.round([3.0]).tolist() == [4.0], "1.1 is a tie, and 10 has the even significand"


def test_a_mantissa_of_52_bits_is_exact():
    fmt = float_format("wide", 11, 52)
    assert np.array_equal(fmt.round([0.1, 1 / 3, 5e-324]), [0.1, 1 / 3, 5e-324])
    assert float_format("mine", 10, 52).round([1 / 3]).tolist() == [1 / 3]


def test_an_exponent_of_15_bits_reaches_beyond_float64():
    fmt = float_format("far", 15, 10)
    assert fmt.max == np.inf
    assert fmt.exact(fmt.max_code) == (2 - Fraction(1, 1024)) * Fraction(2) ** 16383
    assert fmt.exact(1) == Fraction(2) ** (-16382 - 10)
    assert fmt.smallest_subnormal == 0.0
    assert fmt.decode([fmt.max_code, 1]).tolist() == [np.inf, 0.0]
    values = [1.7976931348623157e308, 5e-324, -1.0]
    assert fmt.round(values).tolist() == [np.inf, 5e-324, -1.0], "1024 steps a binade: 2^1024"
    assert fmt.encode([1.7976931348623157e308])[0] < fmt.infinity_code, "finite in this format"
    assert fmt.encode([np.inf])[0] == fmt.infinity_code


def test_designs_of_64_bits_do_not_run_out_of_bits():
    finite = float_format("finite", 11, 52, infinity=False, num_nans=0)
    assert finite.encode([np.inf, -np.inf]).tolist() == [2**63 - 1, 2**64 - 1]
    far = float_format("far", 15, 48)
    assert far.bits == 64
    assert far.round([1 / 3, -2.0]).tolist() == [float(round(Fraction(1 / 3) * 2**50) / 2**50), -2]


@pytest.mark.parametrize("bias", [-5000, -1000, 0, 1023, 5000, 30000])
def test_whatever_the_bias_too_large_is_too_large_and_too_small_is_zero(bias):
    for exponent_bits in (1, 10, 11):
        fmt = float_format("odd", exponent_bits, 52, bias)
        low, high = Fraction(2) ** (-53 - bias), Fraction(2) ** (2**exponent_bits - bias)
        for value in (5e-324, 1e-300, 1.0, 1e300, 1.7976931348623157e308):
            result = fmt.encode([value])[0]
            if Fraction(value) >= high:
                assert result == fmt.infinity_code, (exponent_bits, value)
            elif Fraction(value) < low:
                assert result == 0, (exponent_bits, value)
            else:
                assert 0 < result <= fmt.infinity_code, (exponent_bits, value)


def test_flushed_subnormals_are_zeros():
    fmt = float_format("ftz", 4, 3, infinity=False, num_nans=1, subnormals=False)
    assert fmt.decode(np.arange(8)).tolist() == [0.0] * 8
    assert (fmt.counts().zeros, fmt.counts().subnormals) == (16, 0)
    assert fmt.smallest_subnormal == fmt.smallest_normal == 2.0**-6
    below = np.nextafter(2.0**-6 - 2.0**-10, 0)  # half a step below the smallest normal number
    assert fmt.round([2.0**-6, below, -below, 2.0**-9]).tolist() == [2.0**-6, 0, 0, 0]
    assert np.signbit(fmt.round([-below]))[0]


def test_an_unsigned_float_has_no_code_below_zero():
    fmt = float_format("unsigned", 4, 4, signed=False)
    assert fmt.bits == 8
    assert fmt.min == fmt.smallest_subnormal
    assert np.isnan(fmt.round([-1.0]))[0]
    assert fmt.encode([-0.0, -1e-30]).tolist() == [0, 0], "what rounds to zero lost its sign"


REFUSED = [
    (16, 3, {}, "16 exponent bits are out of range: use 0 to 15"),
    (-1, 3, {}, "-1 exponent bits are out of range: use 0 to 15"),
    (4, 53, {}, "53 mantissa bits are out of range: use 0 to 52"),
    (4, -1, {}, "-1 mantissa bits are out of range: use 0 to 52"),
    (0, 0, {}, "0 bits for exponent and mantissa are out of range"),
    (15, 52, {}, "67 bits for exponent and mantissa are out of"),
    (4, 3, {"num_nans": -2}, "-2 NaN codes: use 0 or more"),
    (4, 3, {"signed": False, "negative_zero": False}, "without a sign has no negative zero"),
    (4, 1, {"num_nans": 2}, "3 special codes .* 1 mantissa bits: the highest .* has room for 2"),
    (1, 0, {}, "Infinity and 0 NaN codes leave no finite number but zero"),
    (0, 2, {}, "Infinity and 3 NaN codes leave no finite number but zero"),
    (0, 4, {"infinity": False, "num_nans": 0, "subnormals": False}, "only zero is left"),
]


@pytest.mark.parametrize(("exponent_bits", "mantissa_bits", "more", "message"), REFUSED)
def test_what_makes_no_format_is_refused_with_what_to_do(
    exponent_bits, mantissa_bits, more, message
):
    with pytest.raises(ValueError, match=message):
        float_format("x", exponent_bits, mantissa_bits, **more)


def test_a_format_without_zero_needs_an_exponent():
    with pytest.raises(ValueError, match="A format without zero needs an exponent"):
        FloatFormat(
            name="x", exponent_bits=0, mantissa_bits=4, bias=0, zero=False, source="nowhere"
        )


def test_every_design_that_is_not_refused_can_be_used():
    for exponent_bits in range(16):
        for mantissa_bits in (0, 1, 2, 3, 10, 23, 52):
            for specials in ({}, {"infinity": False, "num_nans": 0}):
                try:
                    fmt = float_format("x", exponent_bits, mantissa_bits, **specials)
                except ValueError:
                    continue
                counts = fmt.counts()
                assert counts.finite + counts.infinities + counts.nans == fmt.num_codes
                codes = fmt.encode([0.0, -0.0, 1.0, -1.5, 1e-300, 1e300, np.inf, np.nan])
                assert fmt.decode(codes).shape == (8,)
                largest = fmt.decode([fmt.max_code])[0]
                assert largest == fmt.max
