import math

import numpy as np
import pytest

from core.figures.dtypes.lab_frame import hatched, lab_figure, line, number, percent, short, some
from core.figures.theme import MODES, PRESENT_CHART_TEXT_PX


def test_a_long_line_is_thinned_and_keeps_its_ends_and_its_landmarks():
    places = some(10_000, 240, [2206])
    assert (places[0], places[-1]) == (0, 9999)
    assert 2206 in places
    assert len(places) <= 241
    assert some(3, 240, [-1, 7]) == [0, 1, 2]


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


@pytest.mark.parametrize("mode", MODES)
def test_what_is_not_finite_leaves_a_gap_in_a_line(mode):
    drawn = line([1, 2, 3], np.array([1.0, np.inf, np.nan]), "a", mode, "format_a")
    assert drawn.y == (1.0, None, None)


def test_a_projector_gets_larger_text():
    figure = lab_figure([], "light", present=True, x={"title": "x"}, y={"title": "y"})
    assert figure.layout.font.size == PRESENT_CHART_TEXT_PX
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("x", "y")


def test_a_hatching_lies_over_the_colour():
    assert hatched("x")["fillmode"] == "overlay"
