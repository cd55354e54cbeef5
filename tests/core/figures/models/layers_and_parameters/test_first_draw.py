"""One product and one draw, as they were measured."""

import pytest

from core.figures.models.layers_and_parameters.first_draw import bound_picture, product_picture
from core.figures.picture import Look
from core.models.initialisation import product_spread, truncation


def test_the_spread_of_a_product_grows_as_the_root_of_fan_in_and_scaled_stays():
    spreads = {fan_in: product_spread(fan_in) for fan_in in (256, 1024)}
    unit, scaled = product_picture(spreads, Look()).figure.data
    assert list(unit.x) == [256, 1024]
    assert list(unit.y) == pytest.approx([16, 32], rel=0.05)
    assert list(scaled.y) == pytest.approx([1, 1], rel=0.05)


def test_bounds_in_sight_are_drawn_and_those_out_of_sight_are_not():
    tight, loose = (truncation(1024, in_sigmas=in_sigmas) for in_sigmas in (True, False))
    lines = [each.x0 for each in bound_picture(tight, Look()).figure.layout.shapes]
    assert lines == pytest.approx([-3, 3])
    picture = bound_picture(loose, Look())
    assert len(picture.figure.layout.shapes) == 0
    assert sum(picture.figure.data[0].y) == 1_000_000
    assert f"{loose.largest:.3f}" in picture.alt
