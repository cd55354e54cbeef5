"""The parts of a device at its peak add up to the peak, whatever the budget."""

from core.budget.at_peak import at_peak
from core.budget.recipe import TrainingRecipe
from core.budget.training.training_budget import training_budget
from tests.core.budget.parallel.test_shares import cluster, model


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
