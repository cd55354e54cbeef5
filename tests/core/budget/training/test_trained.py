"""How many parameters are trained."""

from core.budget.catalogue.models import MODELS
from core.budget.catalogue.parameters import counts
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.trained import trained_parameters


def test_all_parameters_or_those_of_the_adapters_are_trained():
    spec = MODELS["llama-2-70b"]
    everything = ("q", "k", "v", "o", "gate", "up", "down")
    assert trained_parameters(spec, TrainingRecipe()) == counts(spec).total
    recipe = TrainingRecipe(lora=LoRA(rank=16, targets=everything))
    assert trained_parameters(spec, recipe) == 207_093_760
