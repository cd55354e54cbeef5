"""Decoding and prefill under the roof, by their data."""

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.serving.plan import ServingPlan
from core.budget.serving.throughput import roofline_points
from core.figures.budget.serving.serving_roofline_plot import (
    roofline_alt,
    roofline_figure,
    roofline_table,
)
from core.figures.theme import MODES

RTX = Cluster(device=DEVICES["rtx-4090"])
SPEC = MODELS["llama-3.1-8b"]
PLAN = ServingPlan(prompt_len=7680, concurrency=4)


def traces(figure):
    return {trace.name: trace for trace in figure.data}


def test_points_lie_under_the_roof_and_those_that_do_not_fit_are_hollow():
    points = roofline_points(SPEC, PLAN, RTX)
    peak, bandwidth = RTX.device.peak["bfloat16"], RTX.device.bandwidth
    found = traces(roofline_figure(points, (peak, bandwidth), "light"))

    decoding = found["decoding"]
    for x, y in zip(decoding.x, decoding.y, strict=True):
        assert y < min(peak, x * bandwidth)
    hollow = [symbol == "circle-open" for symbol in decoding.marker.symbol]
    assert hollow == [not p.fits for p in points if p.phase == "decoding"]
    assert True in hollow
    assert False in hollow
    assert found["roof of the data sheet"].x[1] == peak / bandwidth
    assert "prefill, 7,680 tokens in a pass" in roofline_alt(points)
    assert "decoding, 1 token in a pass" in roofline_alt(points)
    assert "e+" not in roofline_alt(points)


def test_the_table_has_a_row_for_each_pass():
    points = roofline_points(SPEC, PLAN, RTX)

    assert {len(column) for column in roofline_table(points).values()} == {len(points)}


def test_the_picture_is_drawn_in_both_themes_and_for_a_projector():
    for mode in MODES:
        figure = roofline_figure(roofline_points(SPEC, PLAN, RTX), (1e14, 1e12), mode, present=True)
        assert figure.layout.font.size == 20
        assert figure.layout.height <= 340


def test_the_turn_of_any_roof_is_on_the_picture():
    points = roofline_points(SPEC, PLAN, RTX)
    for peak, bandwidth in ((1e12, 1e14), (1e17, 1e9)):
        left, right = roofline_figure(points, (peak, bandwidth), "light").layout.xaxis.range
        assert 10**left < peak / bandwidth < 10**right


def test_the_words_at_the_turn_stay_on_the_picture():
    points = roofline_points(SPEC, PLAN, RTX)
    sides = {(1e12, 1e14): "left", (1.6e14, 1e12): "center", (1e17, 1e9): "right"}
    for roof, side in sides.items():
        (note,) = roofline_figure(points, roof, "light").layout.annotations
        assert note.xanchor == side, roof


def test_the_number_of_the_point_at_the_right_edge_stands_at_its_left():
    figure = roofline_figure(roofline_points(SPEC, PLAN, RTX), (1.6e14, 1e12), "light")
    furthest = max(figure.data[1:], key=lambda trace: max(trace.x))
    assert furthest.name == "prefill"
    assert furthest.textposition == "bottom left"
