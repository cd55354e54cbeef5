"""Bars of states by their data: stages, DDP, ZeRO and FSDP, below or above a device's line."""

from core.budget.budget import at_peak
from core.budget.parallel.sharding import STRATEGIES, shardings
from core.budget.recipe import TrainingRecipe
from core.budget.training.memory import training_budget
from core.figures.picture import Look
from core.figures.theme import MODES
from pages.plan.parallelism.ddp_and_fsdp import sent_text, sharding_picture
from pages.plan.parallelism.stages import stages_picture
from tests.core.budget.test_share import cluster, model

BUDGET = training_budget(
    model(), TrainingRecipe(accumulation=8), cluster(16, tensor=4, pipeline=4, zero_stage=1)
)
BARS = [(f"stage {n}", at_peak(stage)) for n, stage in enumerate(BUDGET.stages)]
WAYS = shardings(model(), TrainingRecipe(), cluster(64))


def test_the_parts_of_a_bar_add_up_to_the_stage():
    for mode in MODES:
        figure = stages_picture(BARS, BUDGET.capacity, Look(mode=mode, present=True)).figure
        for place, stage in enumerate(BUDGET.stages):
            assert sum(trace.y[place] for trace in figure.data) == stage.amount
        assert figure.layout.shapes[0].y0 == BUDGET.capacity


def test_what_is_neither_state_nor_activation_is_one_part_of_the_picture_and_many_of_the_table():
    picture = stages_picture(BARS, BUDGET.capacity, Look())
    drawn = {trace.name: list(trace.y) for trace in picture.figure.data}

    together = [
        sum(
            part.num_bytes
            for part in parts
            if part.name in ("temporary", "data", "communication buffers", "allocator reserve")
        )
        for _label, parts in BARS
    ]
    assert drawn["buffers and reserve"] == together
    assert "data" not in drawn
    assert "data" in picture.table


def test_the_sentence_and_the_table_name_the_most_loaded_stage():
    picture = stages_picture(BARS, BUDGET.capacity, Look(unit="GB"))
    totals = [stage.amount for stage in BUDGET.stages]

    assert "What a device of each of 4 stages holds at its peak: stage" in picture.alt
    assert f"stage {totals.index(max(totals))} most" in picture.alt
    assert picture.table["stage"] == ["stage 0", "stage 1", "stage 2", "stage 3"]
    assert all(size.endswith(" GB") for size in picture.table["total"])


def test_each_bar_is_what_a_device_holds():
    figure = sharding_picture(WAYS, 80e9, "zero3", Look()).figure

    assert [trace.name for trace in figure.data] == ["weights", "gradients", "optimizer"]
    for place, way in enumerate(WAYS):
        assert sum(trace.x[place] for trace in figure.data) == way.held.amount
    assert figure.data[0].y[3] == f"<b>{STRATEGIES['zero3']}</b>"
    assert figure.layout.shapes[0].x0 == 80e9
    assert figure.layout.xaxis.range[1] == max(way.held.amount for way in WAYS)
    notes = [note.text for note in figure.layout.annotations if note.xanchor == "left"]
    longest = max(len(line) for note in notes for line in note.split("<br>"))
    assert longest * 7.5 <= figure.layout.margin.r  # beside the longest bar; half an em a letter


def test_a_device_far_larger_than_the_bars_draws_no_line():
    look = Look(mode="dark", present=True)
    assert not sharding_picture(WAYS, 1e15, "", look).figure.layout.shapes


def test_the_sentence_and_the_table_of_the_ways_say_the_same():
    look = Look(unit="GB")
    picture = sharding_picture(WAYS, 80e9, "", look)

    for row, way in enumerate(WAYS):
        assert f"{STRATEGIES[way.key]} {picture.table['total'][row]}" in picture.alt
        sent, seconds = (
            picture.table[title][row] for title in ("sent in a step", "communication time")
        )
        assert sent_text(way, look) == f"sends {sent} in {seconds}"
