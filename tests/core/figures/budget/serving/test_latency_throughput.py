"""Throughput over latency by its data: the curve, its end, the names beside it."""

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.serving.plan import ServingPlan
from core.budget.serving.throughput import throughput_curve
from core.figures.budget.serving.latency_throughput import (
    latency_alt,
    latency_figure,
    latency_table,
)
from core.figures.theme import MODES

RTX = Cluster(device=DEVICES["rtx-4090"])
SPEC = MODELS["llama-3.1-8b"]
PLAN = ServingPlan(prompt_len=7680, concurrency=4)


def traces(figure):
    return {trace.name: trace for trace in figure.data}


def words(figure):
    return [note.text for note in figure.layout.annotations]


def test_the_curve_turns_dotted_where_memory_ends():
    curve = throughput_curve(SPEC, PLAN, RTX)
    figure = latency_figure(curve, 4, "light")
    found = traces(figure)

    fits = found["fits"]
    assert len(fits.x) == sum(point.fits for point in curve.points)
    assert fits.x[0] == 1e3 * curve.points[0].seconds_per_token
    assert fits.y[-1] == curve.last_that_fits.tokens_per_second
    assert found["does not fit"].x[0] == fits.x[-1]
    assert found["does not fit"].line.dash == "dot"
    assert found["KV memory ends it"].x[0] == fits.x[-1]
    assert found["your plan"].marker.symbol == "diamond-open"
    assert f"KV memory ends it at {curve.largest}" in words(figure)
    assert f"{curve.largest} at once" in latency_alt(curve)


def test_a_model_that_does_not_fit_has_only_a_dotted_curve():
    curve = throughput_curve(MODELS["llama-3.1-405b"], PLAN, RTX)
    figure = latency_figure(curve, 4, "dark")

    assert set(traces(figure)) == {"does not fit", "your plan"}
    assert "not even one sequence fits" in words(figure)
    assert "not even one sequence fits beside" in latency_alt(curve)


def test_no_two_names_on_the_curve_lie_on_each_other():
    for model in ("gpt2", "llama-3.1-8b", "qwen3-30b-a3b", "llama-3.1-405b"):
        curve = throughput_curve(MODELS[model], PLAN, RTX)
        figure = latency_figure(curve, 4, "light")
        named = [
            (x, y)
            for trace in figure.data
            for x, y, text in zip(trace.x, trace.y, trace.text or (), strict=False)
            if text
        ]
        width = max(x for x, _y in named) - min(x for x, _y in named)
        height = max(y for _x, y in named)
        counts = {point.tokens_per_second: f"{point.concurrency:,}" for point in curve.points}
        for trace in figure.data:
            for y, text in zip(trace.y, trace.text or (), strict=False):
                assert text in {"", counts[y]}, model
        for i, (x, y) in enumerate(named):
            for other_x, other_y in named[:i]:
                assert abs(x - other_x) > 0.03 * width or abs(y - other_y) > 0.08 * height, model


def test_the_table_has_a_row_for_each_point():
    curve = throughput_curve(SPEC, PLAN, RTX)
    table = latency_table(curve)

    assert {len(column) for column in table.values()} == {len(curve.points)}
    assert table["Device memory"][-1] == "does not fit"


def test_the_picture_is_drawn_in_both_themes_and_for_a_projector():
    for mode in MODES:
        figure = latency_figure(throughput_curve(SPEC, PLAN, RTX), 4, mode, present=True)
        assert figure.layout.font.size == 20
        assert figure.layout.height <= 340
