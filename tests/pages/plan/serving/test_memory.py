"""Memory over one setting and kinds of attention, by their areas, marks and bars."""

from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.serving.kv_cache import kv_variants
from core.budget.serving.memory import AXES, inference_budget, memory_sweep
from core.budget.serving.plan import ServingPlan, with_context
from core.figures.picture import Look
from core.units import GIB
from pages.plan.serving.kv_cache import heads_picture, variant_label
from pages.plan.serving.memory import chosen_bytes, memory_picture
from tests.core.budget.usable import usable

RTX = Cluster(device=DEVICES["rtx-4090"])
SPEC = MODELS["llama-3.1-8b"]
PLAN = ServingPlan(prompt_len=7680, concurrency=4)


def drawn(sweep, **look):
    return memory_picture(sweep, "RTX 4090", Look(**look))


@pytest.mark.parametrize(("unit", "size"), [("GiB", GIB), ("GB", 1e9)])
def test_the_areas_are_the_parts_of_the_budget_in_the_readers_unit(unit, size):
    sweep = memory_sweep(SPEC, PLAN, RTX)
    budget = inference_budget(SPEC, PLAN, RTX)

    found = {trace.name: trace for trace in drawn(sweep, unit=unit).figure.data}

    place = sweep.values.index(PLAN.context)
    names = ("weights", "KV cache", "workspace")
    for name, part in zip(names, budget.item.children, strict=True):
        assert found[name].y[place] == part.amount / size, name
    assert chosen_bytes(sweep) == budget.item.amount
    assert found["your plan"].y[1] == budget.item.amount / size


def test_the_end_of_memory_is_marked_and_said():
    sweep = memory_sweep(SPEC, PLAN, RTX)
    picture = drawn(sweep)
    words = [note.text for note in picture.figure.layout.annotations]

    assert f"full at {sweep.largest:,}" in words
    assert f"RTX 4090: {usable('rtx-4090')}" in words
    assert [shape.y1 for shape in picture.figure.layout.shapes] == [sweep.capacity / GIB] * 2
    assert f"is full at {sweep.largest:,}." in picture.alt
    none = drawn(memory_sweep(MODELS["llama-3.1-405b"], PLAN, RTX), mode="dark")
    assert f"nothing fits in the {usable('rtx-4090')} of RTX 4090." in none.alt
    assert len(none.figure.layout.shapes) == 1


def test_few_sequences_have_a_tick_each():
    for count in range(1, 12):
        plan = replace(PLAN, concurrency=count)
        axis = drawn(
            memory_sweep(MODELS["llama-3.1-405b"], plan, RTX, "sequences")
        ).figure.layout.xaxis
        assert axis.dtick == 1 or axis.range[1] - axis.range[0] > 5, count


@pytest.mark.parametrize("present", [False, True])
def test_no_words_lie_on_an_area_or_hide_one(present):
    """Words at the capacity's height need areas below it as far as they reach: 0.6 of the width."""
    tried = set()
    for model in ("llama-3.1-8b", "mistral-7b-v0.1", "llama-3.1-405b", "gpt2"):
        for context in (2**power for power in range(8, 21)):
            for axis in AXES:
                plan = with_context(PLAN, context)
                sweep = memory_sweep(MODELS[model], plan, RTX, axis)
                layout = drawn(sweep, present=present).figure.layout
                share = sweep.largest / sweep.values[-1]
                at_top = [note.yref == "paper" for note in layout.annotations]
                assert not any(note.bgcolor for note in layout.annotations)
                assert at_top == ([True] if share < 0.6 else [False] * len(at_top)), share
                highest = max(sweep.capacity, sweep.weights + sweep.caches[-1]) / GIB
                assert layout.yaxis.range[1] > 1.15 * highest
                tried.add((all(at_top), sweep.largest == 0))
    assert tried == {(False, False), (True, False), (True, True)}


def test_a_device_that_no_context_fills_is_not_called_full():
    windowed = memory_sweep(MODELS["mistral-7b-v0.1"], ServingPlan(prompt_len=7680), RTX)

    assert f"is not full at {windowed.values[-1]:,} yet" in drawn(windowed).alt


def test_bars_of_the_cache_are_codes_and_scales_as_long_as_their_bytes():
    variants = kv_variants(MODELS["gemma-2-9b"], 8192, "nvfp4")

    picture = heads_picture(variants, Look())

    bars = picture.figure.data
    lengths = [sum(bar.x[row] for bar in bars) for row in range(len(variants))]
    assert lengths == [variant.cache.amount for variant in variants]
    assert [bar.name for bar in bars] == ["keys and values", "scales"]
    labels = [variant_label(variant) for variant in variants]
    assert "MQA · 1 KV head · nvfp4" in labels
    assert "no windows · 8 KV heads · bfloat16" in labels
    assert "as made · 8 KV heads · bfloat16 1.97 GiB" in picture.alt
    latent = kv_variants(MODELS["deepseek-v3"], 8192, "bfloat16")
    assert "as made: latent vector · bfloat16" in heads_picture(latent, Look()).table["attention"]
