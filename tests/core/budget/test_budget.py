"""Whether a budget fits, and how sure that is."""

from core.budget.budget import Budget, at_peak
from core.budget.item import Formula, item
from core.budget.recipe import TrainingRecipe
from core.budget.training.memory import training_budget
from tests.core.budget.test_share import cluster, model

BYTES = item(
    "stage", Formula("100 * n"), {"n": 10}, unit="bytes", kind="exact", source="", band=0.1
)


def test_a_budget_fits_for_sure_only_with_the_upper_end_of_its_band():
    for capacity, verdict, fits in (
        (1200, "fits", True),
        (1100, "fits", True),
        (1050, "close", True),
        (950, "close", False),
        (899, "too_big", False),
    ):
        budget = Budget(name="b", item=BYTES, stages=(BYTES,), capacity=capacity)
        assert (budget.verdict, budget.fits) == (verdict, fits), capacity
        assert budget.headroom == capacity - 1000


def test_it_fits_for_sure_only_in_the_least_that_the_device_may_have():
    for capacity, verdict, fits in (
        (1223, "fits", True),
        (1222, "close", True),
        (1000, "close", True),
        (858, "close", False),
        (857, "too_big", False),
    ):
        budget = Budget(
            name="b", item=BYTES, stages=(BYTES,), capacity=capacity, capacity_band=(0.1, 0.05)
        )
        assert (budget.verdict, budget.fits) == (verdict, fits), capacity


def test_the_parts_at_the_peak_add_up_and_have_one_name_each():
    for checkpointing in ("none", "selective", "full"):
        for spread in ({"num_devices": 8, "zero_stage": 3}, {"num_devices": 16, "pipeline": 4}):
            recipe = TrainingRecipe(accumulation=4, checkpointing=checkpointing)
            for stage in training_budget(model(), recipe, cluster(**spread)).stages:
                parts = at_peak(stage)
                names = [part.name for part in parts]
                assert sum(part.amount for part in parts) == stage.amount, checkpointing
                assert len(set(names)) == len(names)
                assert {"weights", "gradients", "optimizer"} <= set(names)
