"""Layouts: what a code means by its fields, extreme designs, and combinations that are refused."""

import struct
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from core.dtypes import FORMATS, FloatFormat, float_format

SMALL = [name for name, fmt in FORMATS.items() if isinstance(fmt, FloatFormat) and fmt.bits <= 16]


def by_definition(fmt, code):
    """Return (-1)^s * 2^(E - bias) * 1.mantissa, with the subnormals of IEEE 754 section 3.4."""
    mantissa = code % 2**fmt.mantissa_bits
    exponent = code // 2**fmt.mantissa_bits % 2**fmt.exponent_bits
    sign = -1 if fmt.signed and code >= 2 ** (fmt.bits - 1) else 1
    hidden = 0 if fmt.zero and exponent == 0 else 1
    power = Fraction(2) ** (max(exponent, 1 if fmt.zero else 0) - fmt.bias)
    return sign * power * (hidden + Fraction(mantissa, 2**fmt.mantissa_bits))


@pytest.mark.parametrize("name", SMALL)
def test_every_finite_code_means_what_the_definition_says(name):
    fmt = FORMATS[name]
    step = 1 if fmt.bits <= 8 else 37
    for code in range(0, fmt.num_codes, step):
        exact = fmt.exact(code)
        if not isinstance(exact, str):
            assert exact == by_definition(fmt, code), code
            assert fmt.decode([code])[0] == float(exact), code


@pytest.mark.parametrize("name", [name for name in SMALL if hasattr(ml_dtypes, name)])
def test_every_code_means_what_ml_dtypes_says(name):
    fmt = FORMATS[name]
    codes = np.arange(fmt.num_codes, dtype=fmt.code_dtype)
    with np.errstate(invalid="ignore"):  # its signalling NaNs complain
        known = codes.view(getattr(ml_dtypes, name)).astype(np.float64)
    ours = fmt.decode(codes)
    assert np.array_equal(ours, known, equal_nan=True)
    told = ~np.isnan(known)
    assert np.array_equal(np.signbit(ours[told]), np.signbit(known[told]))


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


def test_specials_have_the_codes_of_their_standards():
    for name, infinity, nan in (
        ("float16", 0x7C00, 0x7E00),
        ("bfloat16", 0x7F80, 0x7FC0),
        ("float8_e5m2", 0x7C, 0x7E),
        ("float8_e4m3fn", None, 0x7F),
        ("float8_e4m3fnuz", None, 0x80),
        ("float8_e8m0fnu", None, 0xFF),
        ("float4_e2m1fn", None, None),
    ):
        assert (FORMATS[name].infinity_code, FORMATS[name].nan_code) == (infinity, nan), name


def test_exponents_run_from_the_smallest_normal_to_the_largest_number():
    for name, low, high in (
        ("float16", -14, 15),
        ("bfloat16", -126, 127),
        ("float8_e4m3fn", -6, 8),
        ("float8_e8m0fnu", -127, 127),
        ("float4_e2m1fn", 0, 2),
    ):
        assert (FORMATS[name].min_exponent, FORMATS[name].max_exponent) == (low, high), name


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
    (4, 1, {"num_nans": 2}, "3 special codes do not fit beside 1 mantissa bits: the highest exp"),
    (4, 1, {"num_nans": 2}, "the highest exponent has room for 2"),
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
