"""Relative spacing: the saw-tooth between eps and eps / 2, and its rise below the normals."""

import math

import numpy as np
import pytest

from core.dtypes import FORMATS
from core.figures.picture import Look
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
