"""Bars from the smallest to the largest number of each format."""

import math

import pytest

from core.dtypes import FORMATS, float_format
from core.dtypes.facts.format_facts import format_facts
from core.figures.picture import Look
from pages.dtypes.bit_layouts.numbers import numbers_picture


@pytest.fixture(scope="module")
def picture():
    """Of three formats, one of them without subnormals."""
    names = ("float16", "bfloat16", "float8_e8m0fnu")
    return numbers_picture([format_facts(FORMATS[name]) for name in names], Look())


def test_the_bars_reach_from_the_smallest_to_the_largest_number(picture):
    subnormal, normal, _right = picture.figure.data

    assert subnormal.base[0] == pytest.approx(math.log10(2**-24))
    assert subnormal.base[0] + subnormal.x[0] == pytest.approx(math.log10(2**-14))
    assert normal.base[0] + normal.x[0] == pytest.approx(math.log10(65504))
    assert subnormal.x[2] == 0, "a format without subnormals has no such bar"


def test_a_designed_format_beyond_float64_is_drawn():
    figure = numbers_picture([format_facts(float_format("wide", 15, 3))], Look()).figure

    assert figure.data[1].base[0] + figure.data[1].x[0] == pytest.approx(4932.05, abs=0.01)
    assert 2 < len(figure.layout.xaxis.tickvals) <= 12


def test_the_sentence_and_the_table_have_the_printed_numbers(picture):
    assert "float16 from 5.96…e-8 to 65504, 3.3 decimal digits" in picture.alt
    assert picture.table["NaN codes"] == ["2,046", "254", "1"]
    assert picture.table["finite codes"] == ["63,488", "65,280", "255"]
    assert picture.table["eps"][0] == "0.000976562…"
