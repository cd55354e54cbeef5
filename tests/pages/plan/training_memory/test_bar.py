"""The stages of a budget as bars."""

import pytest

from core.budget.budget import at_peak
from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.recipe import TrainingRecipe
from core.budget.training.memory import training_budget
from core.figures.picture import Look
from core.figures.theme import MODES
from pages.plan.training_memory.bar import (
    MOST_BARS,
    DeviceBar,
    bar_picture,
    device_bars,
    peak_moment,
    stage_label,
)
from tests.core.budget.usable import usable


def budget_of(**layout):
    cluster = Cluster(device=DEVICES["h100-sxm"], **layout)
    return training_budget(MODELS["llama-2-70b"], TrainingRecipe(accumulation=8), cluster)


def test_very_many_stages_give_way_to_the_first_and_the_last():
    bars = device_bars(budget_of(num_devices=32, pipeline=32))
    assert len(bars) == MOST_BARS
    assert [bars[0].label, bars[-1].label] == ["stage 1", "stage 32"]


def test_one_device_has_no_number():
    stage = budget_of().largest
    assert stage_label(stage) == "device"
    assert peak_moment(stage).amount == stage.child("step peak").amount


H100 = DEVICES["h100-sxm"]


def drawn(look=None, **layout):
    """Return the budget of Llama-2 7B and its picture, stages numbered from 0."""
    recipe = TrainingRecipe(accumulation=8, step_kind="fused")
    budget = training_budget(MODELS["llama-2-7b"], recipe, Cluster(device=H100, **layout))
    bars = [
        DeviceBar(f"stage {i}", at_peak(stage), stage.low, stage.high)
        for i, stage in enumerate(budget.stages)
    ]
    return budget, bar_picture(bars, budget.capacity, look or Look())


def test_the_parts_and_the_uncertain_end_reach_to_the_top_of_the_band():
    for mode in MODES:
        look = Look(mode=mode, present=mode == "dark")
        budget, picture = drawn(look, num_devices=4, pipeline=4)
        figure = picture.figure
        for place, stage in enumerate(budget.stages):
            assert sum(trace.x[place] for trace in figure.data[:-1]) == stage.amount
            reached = sum(trace.x[place] for trace in figure.data)
            assert reached == pytest.approx(stage.high)
        assert figure.layout.shapes[0].x0 == budget.capacity
        assert figure.data[-1].marker.pattern.shape == "/"


def test_a_single_bar_needs_no_name_beside_it():
    layout = drawn(Look(unit="GB"))[1].figure.layout
    assert layout.yaxis.showticklabels is False
    assert layout.annotations[-1].text == " <b>133 GB</b><br> up to 146 GB"


def test_names_above_the_bars_leave_these_the_whole_width():
    budget, _beside = drawn(num_devices=4, pipeline=2)
    bars = [
        DeviceBar(f"bf16 autocast {i}", at_peak(stage), stage.low, stage.high, beside=["2.54 s"])
        for i, stage in enumerate(budget.stages)
    ]
    layout = bar_picture(bars, budget.capacity, Look(), named_above=True).figure.layout
    assert layout.yaxis.showticklabels is False
    names = [note for note in layout.annotations if "2.54 s" in note.text]
    assert [(note.x, round(note.y)) for note in names] == [(0, 0), (0, 1)]
    assert all(note.y < place for place, note in enumerate(names))  # the first row is on top


def test_beside_many_bars_there_is_room_for_one_line():
    layout = drawn(num_devices=MOST_BARS, pipeline=MOST_BARS)[1].figure.layout
    assert not any("<br>" in note.text for note in layout.annotations)


def test_the_sentence_names_the_largest_parts_and_the_line():
    alt = drawn()[1].alt
    assert "A device holds 124 GiB at the peak, between 118 GiB and 136 GiB" in alt
    assert "optimizer 50.2 GiB, weights 37.7 GiB" in alt
    assert f"full at {usable('h100-sxm')}" in alt


def test_the_table_has_a_row_a_bar_with_its_band():
    table = drawn(num_devices=2, pipeline=2)[1].table
    assert len({len(column) for column in table.values()}) == 1
    assert table["device"] == ["stage 0", "stage 1"]
    assert all(size.endswith("GiB") for size in table["at most"])
