"""The pictures of the serving page by their data: areas, bars, curve, roof, proof."""

from dataclasses import replace

import pytest

from core.budget.catalogue import MODELS
from core.budget.cluster import Cluster
from core.budget.decode_speeds import measured_fit, published_speeds
from core.budget.devices import DEVICES
from core.budget.kv_variants import kv_variants
from core.budget.serving import inference_budget
from core.budget.serving_plan import ServingPlan
from core.budget.serving_roofline import roofline_points
from core.budget.serving_sweep import memory_sweep
from core.budget.throughput import throughput_curve
from core.figures.budget.kv_bars import kv_alt, kv_figure, kv_table, variant_label
from core.figures.budget.latency_throughput import latency_alt, latency_figure, latency_table
from core.figures.budget.serving_memory_plot import (
    chosen_bytes,
    memory_alt,
    memory_figure,
    memory_table,
)
from core.figures.budget.serving_roofline_plot import (
    roofline_alt,
    roofline_figure,
    roofline_table,
)
from core.figures.budget.speed_proof import speed_alt, speed_figure, speed_table
from core.figures.theme import MODES
from core.units import GIB

RTX = Cluster(device=DEVICES["rtx-4090"])
SPEC = MODELS["llama-3.1-8b"]
PLAN = ServingPlan(prompt_len=7680, concurrency=4)


def traces(figure):
    return {trace.name: trace for trace in figure.data}


def words(figure):
    return [note.text for note in figure.layout.annotations]


@pytest.mark.parametrize(("unit", "size"), [("GiB", GIB), ("GB", 1e9)])
def test_the_areas_are_the_parts_of_the_budget_in_the_readers_unit(unit, size):
    sweep = memory_sweep(SPEC, PLAN, RTX)
    budget = inference_budget(SPEC, PLAN, RTX)

    found = traces(memory_figure(sweep, "RTX 4090", unit, "light"))

    place = sweep.values.index(PLAN.context)
    for part in budget.item.children:
        assert found[part.name].y[place] == part.amount / size, part.name
    assert chosen_bytes(sweep) == budget.item.amount
    assert found["your plan"].y[1] == budget.item.amount / size


def test_the_end_of_memory_is_marked_and_said():
    sweep = memory_sweep(SPEC, PLAN, RTX)
    figure = memory_figure(sweep, "RTX 4090", "GiB", "light")

    assert f"full at {sweep.largest:,}" in words(figure)
    assert "RTX 4090: 23.5 GiB" in words(figure)
    assert [shape.y1 for shape in figure.layout.shapes] == [sweep.capacity / GIB] * 2
    assert f"is full at {sweep.largest:,}." in memory_alt(sweep, "RTX 4090", "GiB")
    none = memory_sweep(MODELS["llama-3.1-405b"], PLAN, RTX)
    assert "nothing fits in the 23.5 GiB of RTX 4090." in memory_alt(none, "RTX 4090", "GiB")
    assert len(memory_figure(none, "RTX 4090", "GiB", "dark").layout.shapes) == 1


def test_bars_of_the_cache_are_codes_and_scales_as_long_as_their_bytes():
    variants = kv_variants(MODELS["gemma-2-9b"], 8192, "nvfp4")

    figure = kv_figure(variants, "GiB", "light")

    lengths = [sum(bar.x[row] for bar in figure.data) for row in range(len(variants))]
    assert lengths == [variant.cache.amount for variant in variants]
    assert [trace.name for trace in figure.data] == ["keys and values", "scales"]
    labels = [variant_label(variant) for variant in variants]
    assert "MQA, 1 key head · nvfp4" in labels
    assert "no windows, 8 key heads · bfloat16" in labels
    assert "as made, 8 key heads · bfloat16 1.97 GiB" in kv_alt(variants, "GiB")
    latent = kv_variants(MODELS["deepseek-v3"], 8192, "bfloat16")
    assert "as made: latent vector · bfloat16" in kv_table(latent, "GiB")["attention"]


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


def test_every_published_speed_has_a_marker_at_its_place():
    rows, rule = published_speeds(), measured_fit()
    figure = speed_figure(rows, rule, "light")

    markers = [trace for trace in figure.data if trace.mode == "markers"]
    assert [trace.name for trace in markers] == ["16 bits", "8 bits", "4 bits"]
    assert sorted(x for trace in markers for x in trace.x) == sorted(
        row.tokens_per_second for row in rows
    )
    seven = next(row for row in rows if row.tokens_per_second == 104.9)
    at = markers[0].x.index(104.9)
    assert markers[0].y[at] == 1 / rule.seconds(seven)
    assert "29 of 31 lie within 15 %" in speed_alt(rows, rule)
    assert "Llama-2 70B, 16 bits × 8" in speed_table(rows, rule)["model, bits, devices"]


def test_every_picture_is_drawn_in_both_themes_and_for_a_projector():
    plan = replace(PLAN, concurrency=2048)
    sweep, curve = memory_sweep(SPEC, plan, RTX), throughput_curve(SPEC, plan, RTX)
    points, rows = roofline_points(SPEC, plan, RTX), published_speeds()
    for mode in MODES:
        for figure in (
            memory_figure(sweep, "RTX 4090", "GiB", mode, present=True),
            kv_figure(kv_variants(SPEC, 100, "bfloat16"), "GB", mode, present=True),
            latency_figure(curve, 2048, mode, present=True),
            roofline_figure(points, (1e14, 1e12), mode, present=True),
            speed_figure(rows, measured_fit(), mode, present=True),
        ):
            assert figure.layout.font.size == 20
            assert figure.layout.height <= 340


def test_tables_have_a_row_for_each_point():
    curve = throughput_curve(SPEC, PLAN, RTX)
    sweep, points = memory_sweep(SPEC, PLAN, RTX), roofline_points(SPEC, PLAN, RTX)

    for table, count in (
        (memory_table(sweep, "GiB"), len(sweep.values)),
        (latency_table(curve), len(curve.points)),
        (roofline_table(points), len(points)),
    ):
        assert {len(column) for column in table.values()} == {count}
    assert latency_table(curve)["Device memory"][-1] == "does not fit"
    assert memory_table(sweep, "GiB")["total"][-1].endswith(" GiB")
