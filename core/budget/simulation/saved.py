"""Bytes that one layer keeps for its backward pass, counted on meta, each storage once."""

from dataclasses import replace

from core.budget.recipe import TrainingRecipe
from core.budget.simulation.prepared import PreparedStep
from core.budget.simulation.tracker import StorageTracker
from core.models.spec import ModelSpec


def saved_bytes_per_layer(spec: ModelSpec, recipe: TrainingRecipe) -> int:
    """Return the bytes that one more layer leaves after the forward pass.

    That is the difference between two models, so what is kept once (loss, rotary angles, the
    embedding) is not in it. With experts it is a layer with experts; with "every_k" it is the
    mean over one run of k layers, rounded down.

    Raises:
        ValueError: If the recipe cannot be simulated; the sentence says why.
    """
    step = recipe.checkpoint_every if recipe.checkpointing == "every_k" else 1
    # two runs of layers first: with adapters the first layer keeps less than all others
    fewer, more = (saved_bytes(_shortened(spec, n * step), recipe) for n in (2, 3))
    return (more - fewer) // step


def saved_bytes(spec: ModelSpec, recipe: TrainingRecipe) -> int:
    """Return the bytes that a whole forward pass leaves, autocast's copies in it.

    Raises:
        ValueError: If the recipe cannot be simulated; the sentence says why.
    """
    prepared = PreparedStep(spec, replace(recipe, optimizer="sgd")).checkpointed()
    tracker = StorageTracker()
    for tensors in prepared.persistent().values():
        tracker.ignore(tensors)
    with tracker:
        loss = prepared.forward()
    num_bytes = tracker.live
    del loss
    return num_bytes


def _shortened(spec: ModelSpec, num_layers: int) -> ModelSpec:
    windowed = min(spec.num_windowed_layers, num_layers)
    mixture = spec.mixture and replace(spec.mixture, num_dense_layers=0)
    return replace(spec, num_layers=num_layers, num_windowed_layers=windowed, mixture=mixture)
