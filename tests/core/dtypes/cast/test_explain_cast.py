import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.dtypes import FORMATS, OVERFLOWS, ROUNDINGS, float_format
from core.dtypes.cast.explain_cast import explain_cast

DESIGNED = (
    float_format("flushing", 3, 2, subnormals=False),
    float_format("no exponent", 0, 5, infinity=False, num_nans=0),
    float_format("wide exponent", 15, 4),
    float_format("unsigned", 4, 4, signed=False),
)
EVERY = {**FORMATS, **{fmt.name: fmt for fmt in DESIGNED}}
each_format = pytest.mark.parametrize("name", sorted(EVERY))


def near(fmt):
    """Values where something happens in this format, and values from everywhere."""
    largest = fmt.max if math.isfinite(fmt.max) else 1e300
    scales = [largest, fmt.smallest_normal or 1e-300, fmt.smallest_subnormal or 1e-300, 1.0]
    steps = st.integers(-4000, 4000).map(lambda each: each / 1000)
    around = st.tuples(st.sampled_from(scales), steps).map(lambda pair: pair[0] * pair[1])
    return st.one_of(around, st.floats(), st.floats(width=16), st.integers(-300, 300).map(float))


@pytest.mark.slow
@each_format
@settings(max_examples=30)
@given(data=st.data())
def test_exact_arithmetic_and_the_codec_give_the_same_code(name, data):
    """Two implementations that share nothing: fractions one by one, and float64 arrays."""
    fmt = EVERY[name]
    value = data.draw(near(fmt))
    for rounding in ROUNDINGS:
        for overflow in OVERFLOWS:
            rng, twin = np.random.default_rng(7), np.random.default_rng(7)
            chance = float(twin.random(1)[0])
            code = int(fmt.encode([value], rounding, overflow, rng)[0])
            trace = explain_cast(fmt, value, rounding, overflow, chance=chance)
            if math.isnan(fmt.decode([code])[0]):
                assert math.isnan(trace.result), (value, rounding, overflow, trace)
            else:
                assert trace.code == code, (value, rounding, overflow, trace)


@pytest.mark.slow
@each_format
@settings(max_examples=30)
@given(data=st.data())
def test_a_finite_number_lies_between_its_candidates(name, data):
    fmt = EVERY[name]
    value = data.draw(near(fmt).filter(math.isfinite).filter(bool))
    trace = explain_cast(fmt, value)
    if trace.lower is None or trace.upper is None:
        return
    assert trace.lower.exact <= trace.upper.exact
    if trace.outcome not in ("overflow", "nan") and trace.reason != "no_zero":
        assert trace.lower.exact <= Fraction(value) <= trace.upper.exact
        assert trace.exact_result in (trace.lower.exact, trace.upper.exact)
        assert 0 <= trace.share <= 1
    for candidate in (trace.lower, trace.upper):
        if candidate.code is not None:
            assert fmt.exact(candidate.code) == candidate.exact


@pytest.mark.parametrize(
    ("name", "text", "result", "outcome", "reason"),
    [
        ("bfloat16", "257", 256.0, "rounded", "tie_to_even"),
        ("float16", "1e-8", 0.0, "underflow", "below_half"),
        ("float16", "2^-25", 0.0, "underflow", "tie_to_even"),
        ("float16", "65519.99", 65504.0, "rounded", "below_half"),
        ("float16", "65520", math.inf, "overflow", "beyond_largest"),
        ("float8_e4m3fn", "464", 448.0, "rounded", "tie_to_even"),
        ("float8_e4m3fn", "465", math.nan, "overflow", "beyond_largest"),
        ("float4_e2m1fn", "7", 6.0, "overflow", "beyond_largest"),
        ("int8", "-300", -128.0, "overflow", "beyond_largest"),
        ("uint8", "-1", 0.0, "overflow", "no_sign"),
        ("uint8", "-0.3", 0.0, "underflow", "below_half"),
        ("float8_e8m0fnu", "-1", math.nan, "nan", "no_sign"),
        ("float8_e8m0fnu", "0", 2.0**-127, "rounded", "no_zero"),
        ("float32", "1/3", 0.3333333432674408, "rounded", "above_half"),
        ("nf4", "2", 1.0, "overflow", "beyond_largest"),
        ("float16", "inf", math.inf, "infinity", "infinity"),
        ("int8", "nan", 0.0, "nan", "nan"),
    ],
)
def test_known_numbers(name, text, result, outcome, reason):
    trace = explain_cast(FORMATS[name], text)
    assert trace.result == result or (math.isnan(result) and math.isnan(trace.result))
    assert (trace.outcome, trace.reason) == (outcome, reason)


def test_guard_round_and_sticky_are_the_bits_behind_the_kept_ones():
    trace = explain_cast(FORMATS["float4_e2m1fn"], "1.3125")  # binary 1.0 101
    assert trace.kept == "10"
    assert trace.tail == "101"
    assert (trace.guard, trace.round_bit, trace.sticky) == (1, 0, 1)
    # the sticky bit sees what float64 could not
    value = 1 + Fraction(1, 2**8) + Fraction(1, 2**100)
    trace = explain_cast(FORMATS["bfloat16"], value)
    assert (trace.guard, trace.round_bit, trace.sticky) == (1, 0, 1)
    assert trace.reason == "above_half"
    assert trace.result == 1 + 2**-7


def test_beyond_the_largest_number_the_next_one_is_imagined():
    trace = explain_cast(FORMATS["float16"], 70000)
    assert (trace.lower.exact, trace.upper.exact) == (65504, 65536)
    assert trace.lower.code == 0x7BFF
    assert trace.upper.code is None
    assert trace.share > 1


def test_a_text_that_is_no_number_is_a_sentence():
    with pytest.raises(ValueError, match=r"“abc” is not a number: write 65519\.99, 1e-8"):
        explain_cast(FORMATS["float16"], "abc")


def test_an_error_is_exact():
    trace = explain_cast(FORMATS["bfloat16"], "0.1")
    assert trace.error == Fraction(0.10009765625) - Fraction(1, 10)
    assert trace.relative_error == trace.error * 10
