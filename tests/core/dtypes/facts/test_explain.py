import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dtypes import FORMATS
from core.dtypes.facts.explain import bit_fields, columns_of, explain_code
from core.dtypes.facts.number_line import num_finite, number_at, place_of

SMALL = [fmt for fmt in FORMATS.values() if fmt.bits <= 8]
small = pytest.mark.parametrize("fmt", SMALL, ids=lambda fmt: fmt.name)


@small
def test_places_count_the_finite_numbers_from_the_lowest(fmt):
    known = {code: fmt.exact(code) for code in range(fmt.num_codes)}
    finite = {code: value for code, value in known.items() if isinstance(value, Fraction)}
    ordered = sorted(set(finite.values()))
    assert num_finite(fmt) == len(ordered)
    for code, value in finite.items():
        assert ordered[place_of(fmt, code)] == value
    assert [number_at(fmt, place).exact for place in range(len(ordered))] == ordered
    assert number_at(fmt, -1) is None
    assert number_at(fmt, len(ordered)) is None


@small
def test_a_formula_gives_the_number(fmt):
    for code in range(fmt.num_codes):
        decoded = explain_code(fmt, code)
        if decoded.exact is None:
            assert decoded.formula == ""
            assert decoded.kind in ("infinity", "nan")
            continue
        rule = decoded.formula.replace("×", "*").replace("^", "**").replace("2**", "2.0**")
        assert eval(rule, {"values": getattr(fmt, "values", None)}) == decoded.value, rule  # noqa: S307


@pytest.mark.parametrize("name", list(FORMATS))
@given(data=st.data())
def test_bits_are_the_fields_side_by_side(name, data):
    fmt = FORMATS[name]
    code = data.draw(st.integers(0, fmt.num_codes - 1))
    decoded = explain_code(fmt, code)
    assert int(decoded.bits, 2) == code
    assert len(decoded.bits) == fmt.bits
    if decoded.exact is not None:
        assert float(decoded.exact) == decoded.value
        for neighbour in (decoded.below, decoded.above):
            assert neighbour is None or fmt.exact(neighbour.code) == neighbour.exact


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_neighbours_of_a_float32_are_those_of_numpy(value):
    code = struct.unpack("<I", struct.pack("<f", value))[0]
    decoded = explain_code(FORMATS["float32"], code)
    assert decoded.value == value
    with np.errstate(over="ignore"):  # beside the largest number lies infinity
        above = float(np.nextafter(np.float32(value), np.float32(np.inf)))
        below = float(np.nextafter(np.float32(value), np.float32(-np.inf)))
    assert (decoded.above.value if decoded.above else math.inf) == above
    assert (decoded.below.value if decoded.below else -math.inf) == below
    if decoded.above and decoded.below:
        assert float(decoded.ulp) == float(np.spacing(np.float32(abs(value))))


def test_pi_in_float32_digit_by_digit():
    decoded = explain_code(FORMATS["float32"], 0x40490FDB)
    assert decoded.decimal == "3.1415927410125732421875"
    assert decoded.is_whole_decimal
    assert decoded.hex_float == "0x1.921fb6p+1"
    assert decoded.ulp == Fraction(1, 2**22)


def test_a_code_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="code 16 is no code of float4_e2m1fn: use 0 to 15"):
        explain_code(FORMATS["float4_e2m1fn"], 16)
    with pytest.raises(ValueError, match="code -1 is no code of int8: use 0 to 255"):
        explain_code(FORMATS["int8"], -1)


@pytest.mark.parametrize("name", FORMATS)
def test_the_fields_of_a_code_have_the_widths_of_the_format(name):
    fmt = FORMATS[name]
    fields, told = bit_fields(fmt), explain_code(fmt, fmt.num_codes - 1)
    assert len(fields) == fmt.bits == len(columns_of(fmt))
    assert ("sign" in fields) == (told.sign is not None)
    assert fields.count("exponent") == (0 if told.exponent is None else told.exponent.bit_length())


def test_float32_and_bfloat16_share_their_first_sixteen_columns():
    long, short = columns_of(FORMATS["float32"]), columns_of(FORMATS["bfloat16"])
    assert list(long)[:16] == list(short)
    assert bit_fields(FORMATS["float32"])[:16] == bit_fields(FORMATS["bfloat16"])


def test_beside_infinity_lies_the_largest_number_as_numpy_says():
    fmt = FORMATS["float16"]
    for code, toward in ((0x7C00, -np.inf), (0xFC00, np.inf)):
        told = explain_code(fmt, code)
        expected = np.nextafter(np.float16(told.value), np.float16(toward))
        inner, outer = (told.below, told.above) if told.value > 0 else (told.above, told.below)
        assert inner.exact == Fraction(float(expected))
        assert outer is None
    assert explain_code(fmt, 0x7E00).below is None, "NaN has no neighbours"
