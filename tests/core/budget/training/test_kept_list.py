"""The list of kept tensors adds up to the line that it stands behind."""

from core.budget.catalogue.models import MODELS
from core.budget.parallel.share import whole
from core.budget.recipe import TrainingRecipe
from core.budget.training.activations import activation_sizes, layer_activations
from core.budget.training.kept_list import kept_list


def test_the_tensors_of_a_layer_times_its_layers_are_the_line():
    spec = MODELS["deepseek-v3"]
    share = whole(spec)
    layers = {"feed-forward": 3, "experts": 58}
    for checkpointing in ("none", "selective", "full"):
        recipe = TrainingRecipe(checkpointing=checkpointing)
        sizes = activation_sizes(spec, recipe, share)
        for line in layer_activations(spec, recipe, sizes):
            tensors = kept_list(spec, recipe, share, line.name)
            one = sum(each.num_bytes for each in tensors)
            assert one * layers.get(line.name, 61) == line.amount, line.name


def test_what_is_made_again_is_listed_too():
    spec = MODELS["llama-2-7b"]
    recipe = TrainingRecipe(checkpointing="full")
    again = kept_list(spec, recipe, whole(spec), "attention", again=True)
    assert [each.what for each in again][:2] == ["input of q, k and v", "queries"]
    assert kept_list(spec, recipe, whole(spec), "attention") == ()
