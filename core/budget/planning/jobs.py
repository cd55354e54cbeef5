"""A plan as a job of the map: over more devices, with other sequences, and in every way."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

from core.budget.fits.jobs import SERVING_FORMATS, Size, serving_ways, training_ways
from core.budget.item import Item
from core.budget.planning.plan import Plan, possible_counts
from core.budget.serving.plan import with_context
from core.models.spec import ModelSpec

OWN_WAY: Final = "plan"
"""The way of a plan that is none of the named ones."""


@dataclass(frozen=True, slots=True)
class PlannedJob:
    """A plan, by its own sharding and global batch; a context beyond a model's own is cut to it."""

    plan: Plan

    def need(self, spec: ModelSpec) -> Item:
        """Return the bytes of the most loaded device."""
        recipe = self.plan.recipe
        if recipe.seq_len > spec.seq_len:
            recipe = replace(recipe, seq_len=spec.seq_len)
        return replace(self.plan, spec=spec, recipe=recipe).need

    def on(self, num_devices: int) -> Self:
        """Return the plan on that many devices."""
        return type(self)(self.plan.on(num_devices))

    def counts(self, most: int) -> Iterator[int]:
        """Yield the numbers of devices that the plan may have."""
        return possible_counts(self.plan, most)

    def sized(self, size: Size, amount: int) -> Self:
        """Return the plan with that many sequences at once, or tokens in each."""
        recipe, serving = self.plan.recipe, self.plan.serving
        if size == "sequences":
            recipe, serving = (
                replace(recipe, batch_size=amount),
                replace(serving, concurrency=amount),
            )
        else:
            ranks = self.plan.cluster.context
            chunk = 2 * ranks if ranks > 1 else 1  # context ranks share whole chunks
            recipe = replace(recipe, seq_len=-(-amount // chunk) * chunk)
            serving = with_context(serving, amount)
        return type(self)(replace(self.plan, recipe=recipe, serving=serving))


def one_group(plan: Plan) -> PlannedJob:
    """Return the plan on as few devices as it can be split over: one, without any split."""
    return PlannedJob(plan.on(plan.cluster.group_size if plan.work == "train" else 1))


def ways_of(plan: Plan) -> Mapping[str, PlannedJob]:
    """Return the plan in every format of the weights or way of training, and in its own."""
    job, named = one_group(plan).plan, {}
    if plan.work == "serve":
        for way, other in serving_ways(plan.serving, plan.spec).items():
            named[way] = PlannedJob(replace(job, serving=other.plan))
    else:
        for way, trained in training_ways(plan.recipe).items():
            named[way] = PlannedJob(replace(job, recipe=trained.recipe))
    return named | {way_of(plan): PlannedJob(job)}


def way_of(plan: Plan) -> str:
    """Return what a plan's own way is called: a short name, a format, or OWN_WAY."""
    if plan.work == "serve":
        known = {fmt: way for way, fmt in SERVING_FORMATS.items()}
        return known.get(plan.serving.weight_format, plan.serving.weight_format)
    ways = training_ways(plan.recipe)
    return next((way for way, job in ways.items() if job.recipe == plan.recipe), OWN_WAY)
