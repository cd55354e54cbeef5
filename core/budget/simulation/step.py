"""`simulate_step`: a whole training step on meta tensors, byte by byte."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from torch import Tensor

from core.budget.recipe import TrainingRecipe
from core.budget.simulation.prepared import PreparedStep
from core.budget.simulation.timeline import (
    BACKWARD,
    FORWARD,
    OPTIMIZER,
    RECOMPUTE,
    StepTimeline,
)
from core.budget.simulation.tracker import StorageTracker, watch_modules, watch_saved
from core.models.spec import ModelSpec

ENOUGH_PASSES = 2  # the second micro-batch finds the gradients of the first; all later ones too


def simulate_step(
    spec: ModelSpec,
    recipe: TrainingRecipe,
    on_progress: Callable[[str, str], None] = lambda _phase, _module: None,
) -> StepTimeline:
    """Run forward, backward and optimizer step on meta and return the bytes after every operation.

    With accumulation two micro-batches are run: all later ones are like the second. Bytes are
    those that the operations ask for; a GPU's allocator rounds each up to 512.

    Raises:
        ValueError: If the recipe cannot be simulated; the sentence says why.
    """
    tracker = StorageTracker()
    prepared = PreparedStep(spec, recipe)
    with watch_modules(prepared.names, tracker, on_progress):
        prepared.checkpointed(partial(_recomputing, tracker))
        return run_step(prepared, tracker)


def run_step(prepared: PreparedStep, tracker: StorageTracker) -> StepTimeline:
    """Run a prepared step under a tracker, on meta or on real tensors."""
    base = {name: tracker.ignore(tensors) for name, tensors in prepared.persistent().items()}
    handles = list(prepared.gather_gradients())
    with tracker:
        for _ in range(min(prepared.recipe.accumulation, ENOUGH_PASSES)):
            with tracker.during(FORWARD), watch_saved(tracker):
                loss: Tensor = prepared.forward()
            tracker.mark_saved()
            with tracker.during(BACKWARD):
                loss.backward()
            tracker.mark_gradients(prepared.trained)
        tracker.module = ""
        with tracker.during(OPTIMIZER):
            prepared.step()
    for handle in handles:
        handle.remove()
    return tracker.timeline({name: num_bytes for name, num_bytes in base.items() if num_bytes})


@contextmanager
def _recomputing(tracker: StorageTracker) -> Iterator[None]:
    try:
        with tracker.during(RECOMPUTE):
            yield
    finally:  # torch stops the rerun by an exception as soon as it has what it needs
        tracker.module = ".".join(tracker.module.split(".")[:2])  # the whole block
