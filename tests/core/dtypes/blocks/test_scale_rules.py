"""The four rules for the scale of an MX block."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dtypes import BLOCK_FORMATS
from core.dtypes.blocks.scale_rules import (
    SCALE_RULES,
    mantissa_bits,
    max_exponent,
    shared_exponents,
    top_gap,
)

MX = [name for name in BLOCK_FORMATS if name.startswith("mx")]
# OCP Microscaling v1.0, section 5.3: emax, mantissa bits and the largest element, typed by hand.
ELEMENTS = {
    "mxfp8_e4m3": (8, 3, 448.0),
    "mxfp8_e5m2": (15, 2, 57344.0),
    "mxfp6_e2m3": (2, 3, 7.5),
    "mxfp6_e3m2": (4, 2, 28.0),
    "mxfp4": (2, 1, 6.0),
    "mxint8": (0, 6, 1.984375),
}
positive = st.floats(2.0**-100, 2.0**100, width=32)


def exponent(name, amax, rule):
    return int(shared_exponents(np.array([amax]), BLOCK_FORMATS[name].element, rule)[0])


@pytest.mark.parametrize("name", MX)
def test_an_element_format_has_the_emax_of_the_specification(name):
    element = BLOCK_FORMATS[name].element
    assert (max_exponent(element), mantissa_bits(element), element.max) == ELEMENTS[name]
    assert top_gap(element) == 2.0 ** (ELEMENTS[name][0] - ELEMENTS[name][1])


@pytest.mark.parametrize("name", MX)
@given(amax=positive)
def test_each_rule_gives_the_power_of_two_that_it_promises(name, amax):
    emax, bits, largest = ELEMENTS[name]
    scales = {rule: 2.0 ** exponent(name, amax, rule) for rule in SCALE_RULES}
    top = 2.0**emax
    assert scales["floor"] * top <= amax < 2 * scales["floor"] * top
    assert scales["ceil"] * top / 2 < amax <= scales["ceil"] * top
    assert scales["rceil"] * largest / 2 < amax <= scales["rceil"] * largest
    # even: floor, unless the mantissa of amax rounds up to the next power of two
    mantissa = amax / (scales["floor"] * top)
    rounds_up = mantissa >= 2 - 2.0 ** -(bits + 1)
    assert scales["even"] == scales["floor"] * (2 if rounds_up else 1)


def test_a_logarithm_that_rounds_would_miss_the_number_after_a_power_of_two():
    above = float(np.nextafter(np.float32(6 * 2.0**60), np.float32(np.inf)))
    assert float(np.log2(np.float32(above / 6))) == 60.0
    assert exponent("mxfp4", above, "rceil") == 61


@pytest.mark.parametrize("name", MX)
@pytest.mark.parametrize("rule", SCALE_RULES)
def test_zero_has_the_smallest_scale_and_infinity_counts_as_the_128th_power_of_two(name, rule):
    assert -127 <= exponent(name, float(np.finfo(np.float32).max), rule) <= 127
    assert exponent(name, 0.0, rule) == -127
    assert exponent(name, 2.0**-149, rule) == -127
    assert exponent(name, math.inf, rule) == (
        127 if rule == "rceil" else min(128 - ELEMENTS[name][0], 127)
    )
