"""Decoding and prefill under the roof, by their data."""

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.serving.plan import ServingPlan
from core.budget.serving.throughput import roofline_points
from core.figures.budget.serving.roofline import roofline_picture
from core.figures.picture import Look

RTX = Cluster(device=DEVICES["rtx-4090"])
POINTS = roofline_points(MODELS["llama-3.1-8b"], ServingPlan(prompt_len=7680, concurrency=4), RTX)


def figure_under(*roof, **look):
    return roofline_picture(POINTS, roof, Look(**look)).figure


def test_points_lie_under_the_roof_and_those_that_do_not_fit_are_hollow():
    peak, bandwidth = RTX.device.peak["bfloat16"], RTX.device.bandwidth
    picture = roofline_picture(POINTS, (peak, bandwidth), Look())
    found = {trace.name: trace for trace in picture.figure.data}

    decoding = found["decoding"]
    for x, y in zip(decoding.x, decoding.y, strict=True):
        assert y < min(peak, x * bandwidth)
    hollow = [symbol == "circle-open" for symbol in decoding.marker.symbol]
    assert hollow == [not p.fits for p in POINTS if p.phase == "decoding"]
    assert set(hollow) == {True, False}
    assert found["data-sheet roofline"].x[1] == peak / bandwidth
    assert "prefill, 7,680 tokens per pass" in picture.alt
    assert "decoding, 1 token per pass" in picture.alt
    assert "e+" not in picture.alt
    assert {len(column) for column in picture.table.values()} == {len(POINTS)}


def test_the_turn_of_any_roof_is_on_the_picture():
    for peak, bandwidth in ((1e12, 1e14), (1e17, 1e9)):
        left, right = figure_under(peak, bandwidth).layout.xaxis.range
        assert 10**left < peak / bandwidth < 10**right


def test_the_words_at_the_turn_stay_on_the_picture():
    sides = {(1e12, 1e14): "left", (1.6e14, 1e12): "center", (1e17, 1e9): "right"}
    for roof, side in sides.items():
        (note,) = figure_under(*roof).layout.annotations
        assert note.xanchor == side, roof


def test_the_number_of_the_point_at_the_right_edge_stands_at_its_left():
    figure = figure_under(1.6e14, 1e12)
    furthest = max(figure.data[1:], key=lambda trace: max(trace.x))
    assert furthest.name == "prefill"
    assert furthest.textposition == "bottom left"


def test_a_native_roof_stands_above_the_one_in_16_bits():
    h100 = DEVICES["h100-sxm"]
    plan = ServingPlan(weight_format="fp8_block128", compute="native", prompt_len=7680)
    points = roofline_points(MODELS["llama-3.1-8b"], plan, Cluster(device=h100))
    roof = (h100.peak["fp8"], h100.bandwidth)
    native = roofline_picture(points, roof, Look(), peak_in_16_bits=h100.peak["bfloat16"]).figure
    same = roofline_picture(points, roof, Look(), peak_in_16_bits=h100.peak["fp8"]).figure

    (lower,) = [trace for trace in native.data if trace.line.dash == "dash"]
    assert lower.y == (989.4e12, 989.4e12)
    assert "295" in lower.name
    assert "591" in native.layout.annotations[0].text
    assert len(same.data) == len(native.data) - 1
