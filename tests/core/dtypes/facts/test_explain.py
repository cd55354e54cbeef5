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


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_neighbours_of_a_float32_are_those_of_numpy(value):
    fmt, code = FORMATS["float32"], struct.unpack("<I", struct.pack("<f", value))[0]
    assert explain_code(fmt, code).value == value
    place = place_of(fmt, code)
    with np.errstate(over="ignore"):  # beside the largest number lies infinity
        for step, end in ((-1, -np.inf), (1, np.inf)):
            beside, known = (
                number_at(fmt, place + step),
                np.nextafter(np.float32(value), np.float32(end)),
            )
            assert (beside.value if beside else end) == float(known)


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
