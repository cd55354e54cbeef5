"""The real CPU allocator as the oracle: what torch.profiler saw being allocated and freed."""

import gc

import torch
from torch.profiler import ProfilerActivity, profile

from core.budget.recipe import TrainingRecipe
from core.budget.simulation.prepared import PreparedStep
from core.models.spec import ModelSpec


def measured_peak(spec: ModelSpec, recipe: TrainingRecipe) -> int:
    """Run the step on real tensors; return the most bytes allocated above those before it."""
    torch.manual_seed(0)
    prepared = PreparedStep(spec, recipe, device="cpu").checkpointed()
    handles = list(prepared.gather_gradients())
    gc.disable()  # what an earlier step left in a circle must not be freed in this one
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        for _ in range(min(recipe.accumulation, 2)):
            prepared.forward().backward()
        prepared.step()
    gc.enable()
    for handle in handles:
        handle.remove()
    return _highest(seen)


def _highest(seen: profile) -> int:
    assert seen.profiler is not None
    assert seen.profiler.kineto_results is not None
    events = [e for e in seen.profiler.kineto_results.events() if e.name() == "[memory]"]
    live = highest = 0
    for event in sorted(events, key=lambda each: each.start_ns()):
        live += event.nbytes()
        highest = max(highest, live)
    return highest
