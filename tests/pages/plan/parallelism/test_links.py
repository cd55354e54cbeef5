"""Seconds on each link and the schedule by their data: bands, and bars where the passes are."""

from core.budget.parallel.communication import exposed_seconds
from core.budget.parallel.pipeline import schedule
from core.budget.parallel.ranks import group
from core.budget.recipe import TrainingRecipe
from core.budget.training.duration import training_time
from core.figures.picture import Look
from core.figures.theme import MODES
from pages.plan.parallelism.communication_time import LinkView, links_picture
from pages.plan.parallelism.pipeline import idle_share, schedule_end, schedule_picture
from tests.core.budget.test_share import cluster, model

RECIPE = TrainingRecipe(accumulation=2)
AXES = ("data", "expert data", "tensor", "pipeline", "expert")
SLOTS = schedule(4, 8)


def view(spread):
    tokens = spread.data * RECIPE.num_tokens * RECIPE.accumulation
    return LinkView(
        seconds=exposed_seconds(model(), RECIPE, spread),
        links={axis: group(spread, axis).link_name for axis in AXES},
        compute=training_time(model(), RECIPE, spread, tokens, 0.5).child("compute"),
    )


def test_each_bar_is_a_number_with_its_band():
    shown = view(cluster(64, tensor=8, pipeline=2))
    lines = [line for axis in shown.seconds.children for line in axis.children]
    for mode in MODES:
        (bars,) = links_picture(shown, Look(mode=mode, present=True)).figure.data
        assert list(bars.x) == [shown.compute.amount, *(line.amount for line in lines)]
        highs = [length + more for length, more in zip(bars.x, bars.error_x.array, strict=True)]
        assert highs == [shown.compute.high, *(line.high for line in lines)]


def test_the_sentence_names_links_and_speeds():
    picture = links_picture(view(cluster(64, tensor=8, pipeline=2)), Look())

    assert "link inside a node, 450 GB/s" in picture.alt
    assert "network between nodes, 50.0 GB/s" in picture.alt
    assert picture.table["what"][0] == "compute"
    assert len(picture.table["how"]) == len(picture.table["seconds"])


def test_one_device_only_computes():
    picture = links_picture(view(cluster(1)), Look())

    assert picture.alt.startswith("One device sends nothing; it computes for ")
    assert len(picture.figure.data[0].x) == 1


def test_every_pass_is_a_bar():
    for mode in MODES:
        forward, backward = schedule_picture(SLOTS, Look(mode=mode, present=True)).figure.data
        for trace, direction in ((forward, "forward"), (backward, "backward")):
            passes = [slot for row in SLOTS for slot in row if slot.direction == direction]
            assert list(trace.base) == [slot.start for slot in passes]
            assert list(trace.text) == [str(slot.microbatch) for slot in passes]
        assert forward.marker.pattern.shape != backward.marker.pattern.shape


def test_stages_wait_as_long_as_the_bubble_formula_says():
    for stages, batches in ((1, 4), (4, 8), (8, 8)):
        idle = (stages - 1) / (batches + stages - 1)
        assert abs(idle_share(schedule(stages, batches)) - idle) < 1e-12


def test_many_passes_are_not_numbered():
    assert set(schedule_picture(schedule(16, 32), Look()).figure.data[0].text) == {""}


def test_the_sentence_and_the_table_of_a_schedule_say_the_same():
    picture = schedule_picture(SLOTS, Look())

    assert "each stage waits 27.3 % of the time" in picture.alt
    assert "Stage 0 holds activations of 4 micro-batches at most." in picture.alt
    assert picture.table["micro-batches held at most"] == [4, 3, 2, 1]
    assert max(picture.table["last pass ends"]) == schedule_end(SLOTS) == 33
