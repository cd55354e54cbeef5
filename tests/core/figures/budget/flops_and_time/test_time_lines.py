from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.recipe import TrainingRecipe
from core.budget.training.duration import training_time
from core.figures.budget.flops_and_time.time_lines import (
    LOOKS,
    time_lines,
    time_lines_alt,
    time_lines_table,
)


def rows():
    recipe = TrainingRecipe(accumulation=8, checkpointing="full")
    for count in (8, 64):
        cluster = Cluster(device=DEVICES["h100-sxm"], num_devices=count, pipeline=2, tensor=2)
        yield f"{count}", training_time(MODELS["llama-3.1-8b"], recipe, cluster, 1e12, 0.6)


ROWS = tuple(rows())


def test_bars_are_the_lines_of_each_time():
    figure = time_lines(ROWS, "light")
    assert [trace.name for trace in figure.data] == list(LOOKS)
    for place, (label, time) in enumerate(ROWS):
        assert sum(trace.x[place] for trace in figure.data) == time.amount, label


def test_words_and_table_name_the_largest_line_after_compute():
    assert "Time of training in lines: 8 " in time_lines_alt(ROWS)
    assert "%)" in time_lines_alt(ROWS)
    table = time_lines_table(ROWS)
    assert list(table) == ["devices", *LOOKS, "total"]
    assert table["devices"] == ["8", "64"]
