"""DDP, ZeRO and FSDP by their data."""

from core.budget.parallel.sharding import STRATEGIES, shardings
from core.budget.recipe import TrainingRecipe
from core.figures.budget.parallelism.sharding_bars import (
    sent_text,
    sharding_alt,
    sharding_figure,
    sharding_table,
)
from tests.core.budget.test_share import cluster, model

WAYS = shardings(model(), TrainingRecipe(), cluster(64))


def test_each_bar_is_what_a_device_holds():
    figure = sharding_figure(WAYS, 80e9, "GiB", "light", chosen="zero3")

    assert [trace.name for trace in figure.data] == ["weights", "gradients", "optimizer"]
    for place, way in enumerate(WAYS):
        assert sum(trace.x[place] for trace in figure.data) == way.held.amount
    assert figure.data[0].y[3] == f"<b>{STRATEGIES['zero3']}</b>"
    assert figure.layout.shapes[0].x0 == 80e9


def test_a_device_far_larger_than_the_bars_draws_no_line():
    assert not sharding_figure(WAYS, 1e15, "GiB", "dark", present=True).layout.shapes


def test_the_sentence_and_the_table_say_the_same():
    table = sharding_table(WAYS, "GB")

    for row, way in enumerate(WAYS):
        assert f"{STRATEGIES[way.key]} {table['total'][row]}" in sharding_alt(WAYS, "GB")
        sent, seconds = table["sent in a step"][row], table["seconds on the link"][row]
        assert sent_text(way, "GB") == f"sends {sent} in {seconds}"
