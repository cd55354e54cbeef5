"""What a slider leads through: in order, exact, and with the numbers that decide among them."""

from fractions import Fraction

import pytest

from core.dtypes import FORMATS
from core.dtypes.cast.explain_cast import explain_cast
from core.dtypes.cast.slider_values import MAGNITUDE_BITS, codes_in_order, decades, numbers_around
from core.dtypes.exact import parse_value

NUMBERS = [
    "65519.99",
    "65504",
    "-65504",
    "1e-8",
    "0.1",
    "465",
    "0",
    "1/3",
    "1e-400",
    "1e400",
    "-2.5",
]


@pytest.mark.parametrize("name", FORMATS)
def test_codes_stand_in_the_order_of_their_numbers_from_the_lowest_to_the_largest(name):
    fmt = FORMATS[name]
    numbers = [fmt.exact(code) for code in codes_in_order(fmt)]
    assert numbers == sorted(set(numbers))
    assert float(numbers[-1]) == fmt.max
    assert len(numbers) <= 2 ** (MAGNITUDE_BITS + 1) + 5
    assert Fraction(1) in numbers or name == "int2"


@pytest.mark.parametrize("name", FORMATS)
def test_stops_around_a_number_hold_its_neighbours_and_the_middle_exactly(name):
    fmt = FORMATS[name]
    for text in NUMBERS:
        stops = numbers_around(fmt, parse_value(text))
        trace = explain_cast(fmt, text)
        if trace.lower is None or trace.upper is None:
            assert stops == {}, text
            continue
        numbers = list(stops.values())
        assert numbers == sorted(set(numbers)), text
        assert [parse_value(written) for written in stops] == numbers, text
        low, high = trace.lower.exact, trace.upper.exact
        assert {low, high, (low + high) / 2} <= set(numbers), text
        assert max(map(len, stops)) <= 40, text


def test_the_rounding_flips_inside_the_stops():
    half = FORMATS["float16"]
    stored = [explain_cast(half, text).result for text in numbers_around(half, Fraction(65519))]
    assert {65472.0, 65504.0, float("inf")} <= set(stored)
    assert stored == sorted(stored)


def test_decades_are_read_as_what_they_are():
    stops = decades()
    assert [parse_value(text) for text in stops] == sorted(stops.values())
    assert {"0", "1", "0.1", "-1", "1e-9", "7000000"} <= set(stops)
