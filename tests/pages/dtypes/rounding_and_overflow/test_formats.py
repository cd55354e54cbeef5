"""One number in many formats: bars as long as the error, words for what became of it."""

import math

import numpy as np
import pytest

from core.dtypes import FORMATS
from core.dtypes.cast.explain_cast import explain_cast
from core.figures.picture import Look
from core.figures.theme import MODES
from pages.dtypes.rounding_and_overflow.formats import error_exponent, formats_picture


def trace(value, name):
    return explain_cast(FORMATS[name], value)


def drawn(value, *names, **look):
    rows = [(FORMATS[name], trace(value, name)) for name in names or FORMATS]
    return formats_picture(rows, value, Look(**look))


@pytest.mark.parametrize("mode", MODES)
def test_a_bar_ends_at_the_relative_error(mode):
    (bars,) = drawn("0.1", "float16", "float64", mode=mode).figure.data
    error = abs(float(np.float16(0.1)) - 0.1) / 0.1
    assert bars.base[0] + bars.x[0] == pytest.approx(math.log10(error), abs=1e-6)
    assert bars.y == ("float16", "float64")
    assert "0.0999755859375" in bars.text[0]


def test_an_exact_number_has_no_bar_and_a_lost_one_a_full_bar():
    assert error_exponent(trace("1.5", "float16")) == -18
    assert error_exponent(trace("1e-8", "float16")) == 0.0
    assert error_exponent(trace("1e6", "float16")) == 0.0
    assert error_exponent(trace("1e-400", "float8_e8m0fnu")) == 1.0


@pytest.mark.parametrize("value", ["0.1", "inf", "nan", "-1e400", "1e-400", "0"])
def test_all_formats_have_a_row_for_every_number(value):
    picture = drawn(value, present=True)
    assert {len(column) for column in picture.table.values()} == {len(FORMATS)}
    assert len(picture.figure.data[0].y) == len(FORMATS)
    assert picture.alt.startswith(f"{value} in {len(FORMATS)} formats: float64")


def test_the_table_says_code_error_and_outcome():
    assert drawn("65520", "float16").table == {
        "format": ["float16"],
        "stored": ["inf"],
        "code": ["0x7C00"],
        "error": ["–"],
        "relative error": ["–"],
        "outcome": ["overflow, tie, infinity"],
    }
