import math
from decimal import Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dtypes.exact import exact_decimal, floor_log2, hex_float, parse_value, to_float

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite)
def test_every_digit_of_a_float_is_that_of_decimal(value):
    text, whole = exact_decimal(Fraction(value), 800)
    assert whole
    assert Decimal(text) == Decimal(value)


@given(finite.filter(bool))
def test_a_cut_text_has_the_first_digits(value):
    text, whole = exact_decimal(Fraction(value), 17)
    shown = Decimal(text.replace("…", ""))
    exact = Decimal(value)
    assert whole == (shown == exact)
    assert abs(shown) <= abs(exact)
    assert shown == Context(prec=17, rounding="ROUND_DOWN").create_decimal(exact)


def test_numbers_beyond_float64_have_digits_too():
    text, whole = exact_decimal(Fraction(2) ** 16383)
    assert text.startswith("5.9486574767861588254287966331400")
    assert text.endswith("…e+4931")
    assert not whole
    assert to_float(Fraction(2) ** 16383) == math.inf
    assert to_float(-(Fraction(2) ** 16383)) == -math.inf
    assert to_float(465.0) == to_float(Fraction(465)) == 465.0
    assert exact_decimal(Fraction(2) ** -16400)[0].endswith("e-4937")


@given(finite)
def test_hex_is_that_of_python(value):
    assert float.fromhex(hex_float(Fraction(value))) == value


def test_a_third_has_no_hex_float():
    with pytest.raises(ValueError, match="1/3 has no finite binary expansion"):
        hex_float(Fraction(1, 3))


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30))
def test_floor_log2_brackets(value):
    exponent = floor_log2(value)
    assert Fraction(2) ** exponent <= value < Fraction(2) ** (exponent + 1)


@given(finite)
def test_what_python_writes_is_read_exactly(value):
    assert parse_value(repr(value)) == Fraction(Decimal(repr(value)))
    assert parse_value(value.hex()) == Fraction(value)


WAYS = {
    "65519.99": Fraction(6551999, 100), "1e-8": Fraction(1, 10**8), "1/3": Fraction(1, 3),
    "-2^-25": -Fraction(1, 2**25), "2**(-3)": Fraction(1, 8), "−5": Fraction(-5), "∞": math.inf,
    " 1 000 ": Fraction(1000), "10^3": Fraction(1000), ".5": Fraction(1, 2),
    "0x1.8p3": Fraction(12), "-inf": -math.inf, "1^20000": 1, "10^-400": Fraction(1, 10**400),
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), WAYS.items())
def test_the_ways_to_write_a_number(text, value):
    assert parse_value(text) == value


def test_minus_zero_and_nan_stay_what_they_are():
    assert math.copysign(1, parse_value("-0")) == -1
    assert math.copysign(1, parse_value("-0.0e5")) == -1
    assert math.isnan(parse_value("nan"))


@pytest.mark.parametrize(
    "text", ["", "abc", "1/0", "0^-1", "+-inf", "--nan", "1..2", "1e", "__", "1" * 300]
)
def test_what_is_no_number_is_a_sentence(text):
    with pytest.raises(ValueError, match="is not a number: write"):
        parse_value(text)


@pytest.mark.parametrize("text", ["1e99999", "2^99999", "0x1p-99999"])
def test_an_exponent_beyond_every_format_is_refused_before_it_is_computed(text):
    with pytest.raises(ValueError, match=r"exponent -?99999 is out of range: use -20000 to 20000"):
        parse_value(text)


@pytest.mark.parametrize("text", ["9999^20000", "3^-10001"])
def test_a_power_beyond_every_format_is_refused_before_it_is_computed(text):
    with pytest.raises(ValueError, match=r"is out of range: use powers from 2\^-20000 to 2\^20000"):
        parse_value(text)


def test_the_wide_signs_of_a_chinese_keyboard_are_read():
    assert parse_value("１．５ｅ－２") == Fraction(15, 1000)
    with pytest.raises(ValueError, match="is not a number"):
        parse_value("2⁵")
