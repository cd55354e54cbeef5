"""Seconds on each link by their data."""

from core.budget.parallel.communication import exposed_seconds
from core.budget.parallel.ranks import group
from core.budget.recipe import TrainingRecipe
from core.budget.training.duration import training_time
from core.figures.budget.parallelism.link_bars import LinkView, link_alt, link_figure, link_table
from core.figures.theme import MODES
from tests.core.budget.test_share import cluster, model

RECIPE = TrainingRecipe(accumulation=2)
AXES = ("data", "expert data", "tensor", "pipeline", "expert")


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
        (bars,) = link_figure(shown, "GiB", mode, present=True).data
        assert list(bars.x) == [shown.compute.amount, *(line.amount for line in lines)]
        highs = [length + more for length, more in zip(bars.x, bars.error_x.array, strict=True)]
        assert highs == [shown.compute.high, *(line.high for line in lines)]


def test_the_sentence_names_links_and_speeds():
    shown = view(cluster(64, tensor=8, pipeline=2))

    assert "link inside a node, 450 GB/s" in link_alt(shown, "GiB")
    assert "network between nodes, 50.0 GB/s" in link_alt(shown, "GiB")
    table = link_table(shown, "GiB")
    assert table["what"][0] == "compute"
    assert len(table["how"]) == len(table["seconds"])


def test_one_device_only_computes():
    shown = view(cluster(1))

    assert link_alt(shown, "GiB").startswith("One device sends nothing; it computes for ")
    assert len(link_figure(shown, "GiB", "light").data[0].x) == 1
