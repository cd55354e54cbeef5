"""Memory over one setting by its data: areas, capacity, plan, the end."""

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.serving.memory import inference_budget, memory_sweep
from core.budget.serving.plan import ServingPlan
from core.figures.budget.serving_memory_plot import (
    chosen_bytes,
    memory_alt,
    memory_figure,
    memory_table,
)
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


def test_the_table_has_a_row_for_each_point():
    sweep = memory_sweep(SPEC, PLAN, RTX)
    table = memory_table(sweep, "GiB")

    assert {len(column) for column in table.values()} == {len(sweep.values)}
    assert table["total"][-1].endswith(" GiB")


def test_the_picture_is_drawn_in_both_themes_and_for_a_projector():
    for mode in MODES:
        figure = memory_figure(memory_sweep(SPEC, PLAN, RTX), "RTX 4090", "GiB", mode, present=True)
        assert figure.layout.font.size == 20
        assert figure.layout.height <= 340


def test_a_device_that_no_context_fills_is_not_called_full():
    windowed = memory_sweep(MODELS["mistral-7b-v0.1"], ServingPlan(prompt_len=7680), RTX)

    told = memory_alt(windowed, "RTX 4090", "GiB")

    assert f"is not full at {windowed.values[-1]:,} yet" in told
