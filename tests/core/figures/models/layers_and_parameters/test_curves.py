"""Curves by depth, a loss above its floor, and a graph beside its function."""

import math

import pytest

from core.figures.models.layers_and_parameters.curves import (
    floor_picture,
    spread_picture,
    traced_picture,
)
from core.figures.picture import Look
from core.models.initialisation import Stack, measure_spread
from core.tensors.against_ndarray import trace_an_if


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


def test_the_floor_is_the_logarithm_of_the_number_of_classes():
    picture = floor_picture([1.4, 1.2, 1.1], 3, Look())
    losses, floor = picture.figure.data
    assert list(losses.y) == [1.4, 1.2, 1.1]
    assert list(floor.y) == [math.log(3)] * 2
    assert "1.0986" in picture.alt


def test_the_graph_and_its_function_are_drawn_by_rows():
    traced = trace_an_if(4)
    picture = traced_picture(traced, Look())
    eager, graph = picture.figure.data
    assert list(eager.y) == list(traced.eager.values())
    assert list(graph.y) == list(traced.traced.values())
    assert (picture.figure.layout.shapes[0].x0, eager.marker.symbol) == (4, "circle")
    assert graph.marker.symbol != eager.marker.symbol
