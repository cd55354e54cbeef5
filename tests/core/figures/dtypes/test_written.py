import math

import pytest

from core.figures.dtypes.written import number, percent, short


@pytest.mark.parametrize(
    ("value", "written"),
    [(256.0, "256"), (-math.inf, "-inf"), (math.nan, "NaN"), (1.0625, "1.0625"), (3e38, "3e+38")],
)
def test_numbers_are_written_for_people(value, written):
    assert number(value) == written


def test_almost_none_and_almost_all_are_not_written_as_none_and_all():
    assert [percent(share) for share in (0.0, 5e-5, 0.5, 0.99995, 1.0)] == [
        *("0 %", "< 0.01 %", "50 %", "> 99.99 %", "100 %"),
    ]


@pytest.mark.parametrize(
    ("name", "written"),
    [("float32", "FP32"), ("float8_e5m2", "E5M2"), ("float6_e2m3fn", "E2M3"), ("nf4", "NF4")],
)
def test_a_format_has_a_short_name(name, written):
    assert short(name) == written
