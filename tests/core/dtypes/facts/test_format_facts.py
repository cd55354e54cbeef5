"""Facts of formats against printed tables, numpy and brute force; and the nearest known format."""

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from core.dtypes import FORMATS, FloatFormat, float_format
from core.dtypes.facts.format_facts import format_facts, nearest_named, short_number, written_value

NUMPY = {"float64": np.float64, "float32": np.float32, "float16": np.float16}
# Decimal digits p * log10(2), as printed in the course: FP32 7.2, FP16 3.3, BF16 2.4, E4M3 1.2.
DIGITS = {"float32": 7.2, "float16": 3.3, "bfloat16": 2.4, "float8_e4m3fn": 1.2, "float8_e5m2": 0.9}
NAMED = [fmt for fmt in FORMATS.values() if isinstance(fmt, FloatFormat)]


def same_numbers(fmt, other):
    """Say whether two formats are one but for the name and the source."""
    return replace(fmt, name="", source="", year=0) == replace(other, name="", source="", year=0)


@pytest.mark.parametrize("name", NUMPY)
def test_the_ends_and_the_step_are_numpys(name):
    facts, info = format_facts(FORMATS[name]), np.finfo(NUMPY[name])
    assert facts.max == Fraction(float(info.max))
    assert facts.smallest_normal == Fraction(float(info.smallest_normal))
    assert facts.smallest == Fraction(float(info.smallest_subnormal))
    assert facts.eps == Fraction(float(info.eps))


@pytest.mark.parametrize(("name", "digits"), DIGITS.items())
def test_decimal_digits_are_those_of_the_course(name, digits):
    assert round(format_facts(FORMATS[name]).decimal_digits, 1) == digits


@pytest.mark.parametrize("name", [name for name, fmt in FORMATS.items() if fmt.bits <= 16])
def test_positive_numbers_and_those_below_one_are_counted_rightly(name):
    fmt, facts = FORMATS[name], format_facts(FORMATS[name])
    values = np.unique(fmt.decode(np.arange(fmt.num_codes)))
    values = values[np.isfinite(values) & (values > 0)]
    assert facts.num_positive == values.size
    assert facts.num_below_one == (values < 1).sum()
    assert float(facts.max) == values.max()
    assert float(facts.smallest) == values.min()


def test_a_designed_format_beyond_float64_has_exact_facts():
    facts = format_facts(float_format("wide", 15, 3))
    assert facts.max == Fraction(2) ** 16383 * Fraction(15, 8)
    assert short_number(facts.max) == "1.11537…e+4932"
    assert facts.num_below_one < facts.num_positive


def test_a_format_without_exponent_has_no_normal_numbers_but_a_neighbour():
    fixed = float_format("fixed", 0, 7, infinity=False, num_nans=0)
    assert nearest_named(fixed)[1]
    facts = format_facts(fixed)
    assert facts.smallest_normal is None
    assert facts.counts.normals == 0
    assert facts.max == Fraction(127, 64)


def test_values_are_written_short_and_specials_by_their_sign():
    half = FORMATS["float16"]
    written = {code: written_value(half, code) for code in (0x3C00, 0x8000, 0x7C00, 0xFC00, 0x7E00)}
    assert written == {0x3C00: "1", 0x8000: "-0", 0x7C00: "∞", 0xFC00: "-∞", 0x7E00: "NaN"}
    assert written_value(FORMATS["float32"], 0x3DCCCCCD) == "0.10000000149…"
    assert written_value(FORMATS["float64"], 0x3FF0000000000001) == "1.000000000000000222…"


def test_the_year_of_a_format_stands_in_its_source_where_that_names_years():
    for fmt in FORMATS.values():
        named = [int(year) for year in re.findall(r"\b(?:19|20)\d\d\b", fmt.source)]
        assert not named or fmt.year == min(named), fmt.name
    assert FORMATS["float64"].year == 1985  # IEEE 754-1985 itself
    assert FORMATS["float4_e2m1fn"].year == 2023  # OCP MX v1.0 appeared in September 2023


def test_a_format_that_ends_at_one_or_before_or_steps_over_it_has_no_gap_above_it():
    nf4, int2 = (format_facts(FORMATS[name]) for name in ("nf4", "int2"))
    below, over = (format_facts(float_format("x", *layout)) for layout in ((5, 2, 40), (2, 1, -5)))
    assert nf4.max == int2.max == 1 > below.max
    assert over.smallest > 1
    assert [each.eps for each in (nf4, int2, below, over)] == [None] * 4
    assert short_number(None) == "–"


def test_a_design_of_63_bits_and_a_sign_is_counted():
    facts = format_facts(float_format("widest", 11, 52, infinity=False, num_nans=0))
    assert facts.num_positive == 2**63 - 1
    assert facts.num_below_one == 1023 * 2**52 - 1


@pytest.mark.parametrize("fmt", NAMED, ids=lambda fmt: fmt.name)
def test_a_named_format_is_nearest_to_itself(fmt):
    name, differences = nearest_named(fmt)
    assert differences == ()
    assert same_numbers(fmt, FORMATS[name])


def test_a_designed_twin_is_recognised_and_a_stranger_says_how_it_differs():
    twin = float_format("twin", 4, 3, infinity=False, num_nans=1)
    assert nearest_named(twin)[0] == "float8_e4m3fn"
    assert same_numbers(twin, FORMATS["float8_e4m3fn"])
    shifted = float_format("shifted", 4, 3, 9, infinity=False, num_nans=1)
    name, differences = nearest_named(shifted)
    assert ("bias", 9, FORMATS[name].bias) in differences
    assert not same_numbers(shifted, FORMATS[name])
