"""Relative spacing: the saw-tooth between eps and eps / 2, and its rise below the normals."""

import math

import numpy as np
import pytest

from core.dtypes import FORMATS
from core.figures.picture import Look
from core.figures.theme import MODES
from pages.dtypes.rounding_and_overflow.number_line import (
    spacing_picture,
    spacing_points,
)


def drawn(names, value, said, **look):
    return spacing_picture([FORMATS[name] for name in names], value, said, Look(**look))


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_normal_numbers_lie_between_eps_and_half_of_it(name):
    fmt = FORMATS[name]
    magnitudes, spacings = spacing_points(fmt)
    smallest, eps = math.log2(fmt.smallest_normal), math.log2(fmt.eps)
    for magnitude, spacing in zip(magnitudes, spacings, strict=True):
        if magnitude > smallest:
            assert eps - 1 <= spacing <= eps, (magnitude, spacing)
    assert spacings[0] == 0.0, "the smallest number is as large as its distance"


def test_the_distance_at_a_number_is_that_of_numpy():
    magnitudes, spacings = spacing_points(FORMATS["float16"])
    for magnitude, spacing in zip(magnitudes[:-1:2], spacings[:-1:2], strict=True):
        value = np.float16(2.0**magnitude)
        assert 2.0**spacing == float(np.spacing(value)) / float(value), magnitude


@pytest.mark.parametrize("mode", MODES)
def test_each_format_is_a_line_with_its_name_at_its_end(mode):
    names = ("float16", "bfloat16", "int8", "nf4")
    figure = drawn(names, 1.1, "1.1", mode=mode, present=True).figure
    assert [line.name for line in figure.data] == list(names)
    assert [f"<b>{name}</b>" for name in names] == [
        each.text for each in figure.layout.annotations[:4]
    ]
    assert len({line.line.color for line in figure.data}) == 4
    assert figure.layout.shapes[0].x0 == pytest.approx(math.log2(1.1))


def test_a_name_stands_beside_its_line_not_on_it():
    names = ("float8_e5m2", "float8_e4m3fn")  # the second has no room above: the first is there
    figure = drawn(names, 1.0, "1").figure
    above, below = figure.layout.annotations[:2]
    last = {name: spacing_points(FORMATS[name])[1][-2:] for name in names}
    assert (above.y, above.yanchor, above.yshift > 0) == (max(last[names[0]]), "bottom", True)
    assert (below.y, below.yanchor, below.yshift < 0) == (min(last[names[1]]), "top", True)


@pytest.mark.parametrize("value", [0.0, math.inf, math.nan])
def test_a_number_without_a_magnitude_is_not_marked(value):
    assert not drawn(["float64"], value, "x").figure.layout.shapes


def test_every_format_can_be_drawn():
    for name in FORMATS:
        assert len(drawn([name], 1.0, "1").figure.data[0].x) >= 2, name
