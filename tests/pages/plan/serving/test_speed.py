"""Throughput over latency by its data: the curve, its end, the markers."""

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.serving.kv_cache import kv_variants
from core.budget.serving.memory import memory_sweep
from core.budget.serving.plan import ServingPlan
from core.budget.serving.throughput import throughput_curve
from core.figures.picture import Look
from core.figures.theme import MODES
from pages.plan.serving.kv_cache import heads_picture
from pages.plan.serving.memory import memory_picture
from pages.plan.serving.speed import speed_picture

RTX = Cluster(device=DEVICES["rtx-4090"])
PLAN = ServingPlan(prompt_len=7680, concurrency=4)


def curve_of(model):
    return throughput_curve(MODELS[model], PLAN, RTX)


def traces(figure):
    return {trace.name: trace for trace in figure.data}


def words(figure):
    return [note.text for note in figure.layout.annotations]


def test_the_curve_turns_dotted_where_memory_ends():
    curve = curve_of("llama-3.1-8b")
    picture = speed_picture(curve, 4, Look())
    found = traces(picture.figure)

    fits = found["it fits"]
    assert len(fits.x) == sum(point.fits for point in curve.points)
    assert fits.x[0] == 1e3 * curve.points[0].seconds_per_token
    assert fits.y[-1] == curve.last_that_fits.tokens_per_second
    assert found["it does not fit"].x[0] == fits.x[-1]
    assert found["it does not fit"].line.dash == "dot"
    assert found["KV cache full"].x[0] == fits.x[-1]
    assert found["your plan"].marker.symbol == "diamond-open"
    assert f"KV cache full at {curve.largest}" in words(picture.figure)
    assert f"{curve.largest} concurrent:" in picture.alt


def test_a_model_that_does_not_fit_has_only_a_dotted_curve():
    picture = speed_picture(curve_of("llama-3.1-405b"), 4, Look(mode="dark"))

    assert set(traces(picture.figure)) == {"it does not fit", "your plan"}
    assert "not even one sequence fits" in words(picture.figure)
    assert "not even one sequence fits beside" in picture.alt


def test_no_two_names_on_the_curve_lie_on_each_other():
    for model in ("gpt2", "llama-3.1-8b", "qwen3-30b-a3b", "llama-3.1-405b"):
        curve = curve_of(model)
        figure = speed_picture(curve, 4, Look()).figure
        texts = [
            (x, y, text)
            for trace in figure.data
            for x, y, text in zip(trace.x, trace.y, trace.text or (), strict=False)
        ]
        counts = {point.tokens_per_second: f"{point.concurrency:,}" for point in curve.points}
        assert all(text in {"", counts[y]} for _x, y, text in texts), model
        named = [(x, y) for x, y, text in texts if text]
        width = max(x for x, _y in named) - min(x for x, _y in named)
        height = max(y for _x, y in named)
        for i, (x, y) in enumerate(named):
            for other_x, other_y in named[:i]:
                assert abs(x - other_x) > 0.03 * width or abs(y - other_y) > 0.08 * height, model


@pytest.mark.parametrize("mode", MODES)
def test_the_pictures_of_the_page_are_drawn_in_both_themes_and_for_a_projector(mode):
    look, spec = Look(mode=mode, present=True), MODELS["llama-3.1-8b"]
    for picture in (
        speed_picture(curve_of("llama-3.1-8b"), 4, look),
        memory_picture(memory_sweep(spec, PLAN, RTX), "RTX 4090", look),
        heads_picture(kv_variants(MODELS["gemma-2-9b"], 8192, "nvfp4"), look),
    ):
        assert picture.figure.layout.font.size == 22
        assert picture.figure.layout.height <= 340
