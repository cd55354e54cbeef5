"""Ways to train: what is refused, and in which words."""

from core.budget.recipe import LoRA, TrainingRecipe
from tests.core.budget.refusals import refused


def test_a_recipe_that_cannot_be_is_refused():
    refused("batch_size is 0; it must lie between 1 and 1,000,000", TrainingRecipe, batch_size=0)
    refused("seq_len is -4", TrainingRecipe, seq_len=-4)
    refused("accumulation is 0", TrainingRecipe, accumulation=0)
    refused("checkpoint_every is 0", TrainingRecipe, checkpoint_every=0)
    refused("loss_chunks is 0", TrainingRecipe, loss_chunks=0)
    refused("step_kind is 'quick'; use one of: for_loop", TrainingRecipe, step_kind="quick")
    refused("checkpointing is 'some'; use one of: none", TrainingRecipe, checkpointing="some")
    refused("reduce_dtype is 'bf8'; use one of: none", TrainingRecipe, reduce_dtype="bf8")


def test_adapters_name_matrices_that_exist():
    refused("target is 'q_proj'; use one of: q, k, v, o, gate", LoRA, targets=("q_proj",))
    refused("target is ''", LoRA, targets=())
    refused("rank is 0", LoRA, rank=0)
