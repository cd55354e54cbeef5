"""How many parameters a recipe trains."""

from core.budget.catalogue.parameters import share_counts
from core.budget.parallel.share import whole
from core.budget.recipe import TrainingRecipe
from core.budget.training.states import state_sizes
from core.models.spec import ModelSpec


def trained_parameters(spec: ModelSpec, recipe: TrainingRecipe) -> int:
    """Return the parameters that get gradients: all of them, or those of the adapters.

    >>> from core.budget.catalogue.models import MODELS
    >>> from core.budget.recipe import LoRA
    >>> trained_parameters(MODELS["llama-2-7b"], TrainingRecipe(lora=LoRA(rank=8)))
    4194304
    """
    share = whole(spec)
    sizes = state_sizes(spec, recipe, share, share_counts(spec, share))
    return int(sizes["num_trained"])
