"""Integers: ranges, saturation, signs, and fixed point."""

import numpy as np
import pytest

from core.dtypes import FORMATS, OVERFLOWS, IntFormat

INTEGERS = ("int8", "uint8", "int4", "uint4", "int2", "uint2")
INPUTS = [*np.arange(-300, 300.5, 0.25), 1e9, -1e9, np.inf, -np.inf, -0.0, 0.49999999999999994]


@pytest.mark.parametrize("rounding", ["toward_zero", "up", "down", "nearest_away"])
def test_the_other_modes_are_those_of_numpy(rounding):
    whole = {
        "toward_zero": np.trunc,
        "up": np.ceil,
        "down": np.floor,
        "nearest_away": lambda x: np.copysign(np.trunc(np.abs(x)) + (np.abs(x) % 1 >= 0.5), x),
    }[rounding]
    values = np.array([value for value in INPUTS if np.isfinite(value)])
    rounded = FORMATS["int8"].round(values, rounding)
    assert np.array_equal(rounded, np.clip(whole(values), -128, 127) + 0.0)


@pytest.mark.parametrize("overflow", OVERFLOWS)
def test_an_integer_saturates_under_every_policy(overflow):
    values = [128.0, 1e300, np.inf, -129.0, -np.inf]
    assert FORMATS["int8"].round(values, overflow=overflow).tolist() == [127, 127, 127, -128, -128]
    assert FORMATS["uint4"].round([-3.0, 99.0], overflow=overflow).tolist() == [0, 15]


def test_nan_has_no_code_in_integers_and_codebooks_and_becomes_zero():
    assert [FORMATS[name].round([np.nan])[0] for name in (*INTEGERS, "nf4")] == [0] * 7


def test_the_mx_element_is_an_int8_with_six_bits_after_the_point():
    fmt = IntFormat(name="mxint8", width=8, signed=True, fraction_bits=6, source="OCP MX v1.0")
    assert (fmt.max, fmt.min, fmt.eps) == (1.984375, -2.0, 2.0**-6)
    assert fmt.exact(0x40) == 1
    assert fmt.round([0.5, 1 / 128, 3 / 128, 5.0]).tolist() == [0.5, 0.0, 0.03125, 1.984375]


def test_a_wide_integer_keeps_every_bit():
    fmt = IntFormat(name="int32", width=32, signed=True, source="two's complement")
    values = np.array([-(2.0**31), -1.0, 2.0**31 - 1, 123456789.0])
    codes = fmt.encode(values)
    assert codes.dtype == np.uint32
    assert np.array_equal(codes.view(np.int32), values.astype(np.int32))
    assert np.array_equal(fmt.decode(codes), values)


@pytest.mark.parametrize("width", [0, 33])
def test_a_width_that_makes_no_integer_is_refused(width):
    with pytest.raises(ValueError, match=f"an integer of {width} bits is not supported: use 1 to"):
        IntFormat(name="x", width=width, signed=True, source="nowhere")
