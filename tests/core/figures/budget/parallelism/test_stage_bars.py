"""Stages by their data: the parts add up to the device, below or above its line."""

from core.budget.budget import at_peak
from core.budget.recipe import TrainingRecipe
from core.budget.training.memory import training_budget
from core.figures.budget.parallelism.stage_bars import stage_alt, stage_figure, stage_table
from core.figures.theme import MODES
from tests.core.budget.test_share import cluster, model

BUDGET = training_budget(
    model(), TrainingRecipe(accumulation=8), cluster(16, tensor=4, pipeline=4, zero_stage=1)
)
BARS = [(f"stage {n}", at_peak(stage)) for n, stage in enumerate(BUDGET.stages)]


def test_the_parts_of_a_bar_add_up_to_the_stage():
    for mode in MODES:
        figure = stage_figure(BARS, BUDGET.capacity, "GiB", mode, present=True)
        for place, stage in enumerate(BUDGET.stages):
            assert sum(trace.y[place] for trace in figure.data) == stage.amount
        assert figure.layout.shapes[0].y0 == BUDGET.capacity


def test_the_sentence_and_the_table_name_the_most_loaded_stage():
    alt = stage_alt(BARS, BUDGET.capacity, "GiB")
    totals = [stage.amount for stage in BUDGET.stages]

    assert "What a device of each of 4 stages holds at its peak: stage" in alt
    assert f"stage {totals.index(max(totals))} most" in alt
    table = stage_table(BARS, "GB")
    assert table["stage"] == ["stage 0", "stage 1", "stage 2", "stage 3"]
    assert all(size.endswith(" GB") for size in table["total"])
