import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.recipe import TrainingRecipe
from core.budget.training.duration import training_time
from core.figures.picture import Look
from pages.plan.flops_and_time.training_time import LOOKS, lines_picture


@pytest.fixture(scope="module")
def rows():
    recipe, found = TrainingRecipe(accumulation=8, checkpointing="full"), []
    for count in (8, 64):
        cluster = Cluster(device=DEVICES["h100-sxm"], num_devices=count, pipeline=2, tensor=2)
        time = training_time(MODELS["llama-3.1-8b"], recipe, cluster, 1e12, 0.6)
        found.append((f"{count}", time))
    return dict(found)


def test_bars_are_the_lines_of_each_time(rows):
    figure = lines_picture(rows, Look()).figure
    assert [trace.name for trace in figure.data] == list(LOOKS)[1:]
    for place, (label, time) in enumerate(rows.items()):
        assert sum(trace.x[place] for trace in figure.data) == time.amount, label
