import math

import pytest

from core.figures.dtypes.written import number, short


@pytest.mark.parametrize(
    ("value", "written"),
    [(256.0, "256"), (-math.inf, "-inf"), (math.nan, "NaN"), (1.0625, "1.0625"), (3e38, "3e+38")],
)
def test_numbers_are_written_for_people(value, written):
    assert number(value) == written


@pytest.mark.parametrize(
    ("name", "written"),
    [("float32", "FP32"), ("float8_e5m2", "E5M2"), ("float6_e2m3fn", "E2M3"), ("nf4", "NF4")],
)
def test_a_format_has_a_short_name(name, written):
    assert short(name) == written
