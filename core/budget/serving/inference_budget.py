"""Whether a way of serving fits on its devices, and how far it can be stretched."""

from bisect import bisect_right
from dataclasses import replace
from typing import Final

from core.budget.budget import Budget
from core.budget.cluster import Cluster
from core.budget.parallel.shares import check_split
from core.budget.recipe import MAX_TOKENS
from core.budget.serving.serving_memory import growing_parts, serving_memory, serving_weights
from core.budget.serving.serving_plan import ServingPlan
from core.models.spec import ModelSpec

MOST_SEQUENCES: Final = 1_000_000


def inference_budget(spec: ModelSpec, serving: ServingPlan, cluster: Cluster) -> Budget:
    """Return the bytes of serving on one device, and its capacity.

    The devices of `cluster` form groups of `serving.tensor`; each group serves
    `serving.concurrency` sequences with a copy of the model. How the cluster splits a training run
    plays no part.

    Raises:
        ValueError: If the devices make no whole number of groups, the model cannot be split over
            a group, or a format is unknown.
    """
    check_group(spec, serving, cluster)
    memory = serving_memory(spec, serving)
    return Budget(
        name=spec.name, item=memory, stages=(memory,), capacity=cluster.device.memory_usable
    )


def check_group(spec: ModelSpec, serving: ServingPlan, cluster: Cluster) -> None:
    """Refuse a group of devices that cannot share the model.

    Raises:
        ValueError: With a sentence that says why.
    """
    check_split(spec, replace(cluster, tensor=serving.tensor, pipeline=1, expert=1))


def largest_concurrency(spec: ModelSpec, serving: ServingPlan, cluster: Cluster) -> int:
    """Return how many sequences of the plan's length fit at once; 0 if not one does.

    Raises:
        ValueError: As `inference_budget`.
    """
    check_group(spec, serving, cluster)
    room = _room(spec, serving, cluster)

    def grown(concurrency: int) -> float:
        parts = growing_parts(spec, replace(serving, concurrency=concurrency))
        return sum(part.amount for part in parts)

    return bisect_right(range(1, MOST_SEQUENCES + 1), room, key=grown)


def largest_context(spec: ModelSpec, serving: ServingPlan, cluster: Cluster) -> int:
    """Return how many tokens each of the plan's sequences may have; 0 if not one fits.

    The answer keeps its length as long as it can; the prompt gives way first. What the model was
    trained for is not asked here.

    Raises:
        ValueError: As `inference_budget`.
    """
    check_group(spec, serving, cluster)
    room = _room(spec, serving, cluster)

    def grown(context: int) -> float:
        parts = growing_parts(spec, with_context(serving, context))
        return sum(part.amount for part in parts)

    return bisect_right(range(1, MAX_TOKENS + 1), room, key=grown)


def with_context(serving: ServingPlan, context: int) -> ServingPlan:
    """Return the plan with sequences of `context` tokens: the prompt changes first.

    >>> with_context(ServingPlan(prompt_len=2048, output_len=512), 100).prompt_len
    1
    """
    prompt = max(1, context - serving.output_len)
    return replace(serving, prompt_len=prompt, output_len=context - prompt)


def _room(spec: ModelSpec, serving: ServingPlan, cluster: Cluster) -> float:
    """Return the bytes that the weights leave free; negative if they do not fit."""
    weights = serving_weights(spec, serving.weight_format, serving.tensor)
    return cluster.device.memory_usable - weights.amount
