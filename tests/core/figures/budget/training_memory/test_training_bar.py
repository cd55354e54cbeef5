"""The device's bar by its data: parts add up, the band reaches as far as the budget's."""

import pytest

from core.budget.budget import at_peak
from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.recipe import TrainingRecipe
from core.budget.training.memory import training_budget
from core.figures.budget.training_memory.training_bar import (
    MOST_BARS,
    DeviceBar,
    bar_alt,
    bar_figure,
    bar_table,
)
from core.figures.theme import MODES

H100 = DEVICES["h100-sxm"]


def bars_of(**layout):
    recipe = TrainingRecipe(accumulation=8, step_kind="fused")
    budget = training_budget(MODELS["llama-2-7b"], recipe, Cluster(device=H100, **layout))
    bars = [
        DeviceBar(f"stage {i}", at_peak(stage), stage.low, stage.high)
        for i, stage in enumerate(budget.stages)
    ]
    return budget, bars


def test_the_parts_and_the_uncertain_end_reach_to_the_top_of_the_band():
    for mode in MODES:
        budget, bars = bars_of(num_devices=4, pipeline=4)
        figure = bar_figure(bars, budget.capacity, "GiB", mode, present=mode == "dark")
        for place, stage in enumerate(budget.stages):
            assert sum(trace.x[place] for trace in figure.data[:-1]) == stage.amount
            reached = sum(trace.x[place] for trace in figure.data)
            assert reached == pytest.approx(stage.high)
        assert figure.layout.shapes[0].x0 == budget.capacity
        assert figure.data[-1].marker.pattern.shape == "/"


def test_a_single_bar_needs_no_name_beside_it():
    budget, bars = bars_of()
    figure = bar_figure(bars, budget.capacity, "GB", "light")
    assert figure.layout.yaxis.showticklabels is False
    assert figure.layout.annotations[-1].text == " <b>133 GB</b><br> up to 146 GB"


def test_beside_many_bars_there_is_room_for_one_line():
    budget, bars = bars_of(num_devices=MOST_BARS, pipeline=MOST_BARS)
    figure = bar_figure(bars, budget.capacity, "GiB", "light")
    assert not any("<br>" in note.text for note in figure.layout.annotations)


def test_the_sentence_names_the_largest_parts_and_the_line():
    budget, bars = bars_of()
    alt = bar_alt(bars, budget.capacity, "GiB")
    assert "stage 0, holds 124 GiB at the peak, between 118 GiB and 136 GiB" in alt
    assert "optimizer 50.2 GiB, weights 37.7 GiB" in alt
    assert "full at 79.1 GiB" in alt


def test_the_table_has_a_row_a_bar_with_its_band():
    _budget, bars = bars_of(num_devices=2, pipeline=2)
    table = bar_table(bars, "GiB")
    assert len({len(column) for column in table.values()}) == 1
    assert table["device"] == ["stage 0", "stage 1"]
    assert all(size.endswith("GiB") for size in table["at most"])
