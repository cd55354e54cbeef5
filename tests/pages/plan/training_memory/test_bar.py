"""The stages of a budget as bars."""

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.recipe import TrainingRecipe
from core.budget.training.memory import training_budget
from core.figures.budget.training_memory.bar import MOST_BARS
from pages.plan.training_memory.bar import device_bars, peak_moment, stage_label


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
