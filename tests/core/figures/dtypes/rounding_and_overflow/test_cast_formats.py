"""One number in many formats: bars as long as the error, words for what became of it."""

import math

import numpy as np
import pytest

from core.dtypes import FORMATS
from core.dtypes.cast.explain_cast import explain_cast
from core.figures.dtypes.rounding_and_overflow.cast_formats import (
    cast_formats,
    error_exponent,
    formats_alt,
    formats_table,
)
from core.figures.theme import MODES


def rows(value, *names):
    return [(FORMATS[name], explain_cast(FORMATS[name], value)) for name in names or FORMATS]


@pytest.mark.parametrize("mode", MODES)
def test_a_bar_ends_at_the_relative_error(mode):
    found = rows("0.1", "float16", "float64")
    (bars,) = cast_formats(found, mode).data
    error = abs(float(np.float16(0.1)) - 0.1) / 0.1
    assert bars.base[0] + bars.x[0] == pytest.approx(math.log10(error), abs=1e-6)
    assert bars.y == ("float16", "float64")
    assert "0.0999755859375" in bars.text[0]


def test_an_exact_number_has_no_bar_and_a_lost_one_a_full_bar():
    assert error_exponent(rows("1.5", "float16")[0][1]) == -18
    assert error_exponent(rows("1e-8", "float16")[0][1]) == 0.0
    assert error_exponent(rows("1e6", "float16")[0][1]) == 0.0
    assert error_exponent(rows("1e-400", "float8_e8m0fnu")[0][1]) == 1.0


@pytest.mark.parametrize("value", ["0.1", "inf", "nan", "-1e400", "1e-400", "0"])
def test_all_formats_have_a_row_for_every_number(value):
    found = rows(value)
    table = formats_table(found)
    assert {len(column) for column in table.values()} == {len(FORMATS)}
    assert len(cast_formats(found, present=True).data[0].y) == len(FORMATS)
    assert formats_alt(found, value).startswith(f"{value} in {len(FORMATS)} formats: float64")


def test_the_table_says_code_error_and_outcome():
    table = formats_table(rows("65520", "float16"))
    assert table == {
        "format": ["float16"],
        "stored": ["inf"],
        "code": ["0x7C00"],
        "error": ["–"],
        "relative error": ["–"],
        "outcome": ["overflow, tie, infinity"],
    }
