"""One product and one draw, as they were measured."""

import math

import pytest

from core.figures.picture import Look
from core.models.initialisation import Stack, measure_spread, product_spread, truncation
from pages.models.layers_and_parameters.initialization import (
    bound_picture,
    product_picture,
    spread_picture,
)


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


@pytest.fixture(scope="module")
def spreads():
    stacks = {
        scheme: Stack(
            scheme=scheme, num_layers=4, width=64, activation="relu", residual=False
        )
        for scheme in ("kaiming", "unit")
    }  # fmt: skip
    return {scheme: measure_spread(stack) for scheme, stack in stacks.items()}


@pytest.mark.parametrize("kind", ["activations", "gradients"])
def test_a_curve_for_each_scheme_is_what_was_measured(spreads, kind):
    picture = spread_picture(spreads, kind, Look())
    for trace, spread in zip(picture.figure.data, spreads.values(), strict=True):
        assert list(trace.y) == list(getattr(spread, kind))
    low, high = picture.figure.layout.yaxis.range
    values = [each for trace in picture.figure.data for each in trace.y]
    assert low <= math.log10(min(values)) <= math.log10(max(values)) <= high
    assert len({trace.line.dash for trace in picture.figure.data}) == 2
