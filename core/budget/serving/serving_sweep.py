"""Serving memory over the context or over the sequences at once, up to where the device is full."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

from core.budget.check import check_choice
from core.budget.cluster import Cluster
from core.budget.recipe import MAX_TOKENS
from core.budget.serving.inference_budget import (
    MOST_SEQUENCES,
    check_group,
    largest_concurrency,
    largest_context,
    with_context,
)
from core.budget.serving.serving_memory import growing_parts, serving_weights
from core.budget.serving.serving_plan import ServingPlan
from core.models.spec import ModelSpec

Axis = Literal["context", "sequences"]
AXES: Final[tuple[Axis, ...]] = ("context", "sequences")
NUM_STEPS: Final = 48


@dataclass(frozen=True, kw_only=True, slots=True)
class MemorySweep:
    """Bytes on one device over one setting, all others kept.

    Attributes:
        axis: What changes: tokens of each sequence, or sequences.
        values: Of that setting, growing evenly; the plan's own is one of them.
        weights: Bytes of the weights; they do not change.
        caches: Bytes of the KV cache at each value.
        work_spaces: Bytes of the work space at each value.
        capacity: Bytes that a process can get.
        chosen: The plan's value.
        largest: The largest value that fits; 0 if none does.
    """

    axis: Axis
    values: tuple[int, ...]
    weights: float
    caches: tuple[float, ...]
    work_spaces: tuple[float, ...]
    capacity: float
    chosen: int
    largest: int


def memory_sweep(
    spec: ModelSpec, serving: ServingPlan, cluster: Cluster, axis: Axis = "context"
) -> MemorySweep:
    """Return the memory over the context or the sequences, some way beyond plan and capacity.

    Raises:
        ValueError: If the axis is unknown, or as `inference_budget`.
    """
    check_choice("axis", axis, AXES)
    check_group(spec, serving, cluster)
    change, largest_that_fits = _AXES[axis]
    chosen = serving.context if axis == "context" else serving.concurrency
    largest = largest_that_fits(spec, serving, cluster)
    longest = 4 * spec.seq_len if axis == "context" else MOST_SEQUENCES
    values = tuple(sorted({chosen, *_steps(max(chosen, min(largest, longest)))}))
    grown = [growing_parts(spec, change(serving, value)) for value in values]
    return MemorySweep(
        axis=axis,
        values=values,
        weights=serving_weights(spec, serving.weight_format, serving.tensor).amount,
        caches=tuple(cache.amount for cache, _work in grown),
        work_spaces=tuple(work.amount for _cache, work in grown),
        capacity=cluster.device.memory_usable,
        chosen=chosen,
        largest=largest,
    )


def _with_sequences(serving: ServingPlan, concurrency: int) -> ServingPlan:
    return replace(serving, concurrency=concurrency)


_AXES: Final[
    dict[
        Axis,
        tuple[
            Callable[[ServingPlan, int], ServingPlan],
            Callable[[ModelSpec, ServingPlan, Cluster], int],
        ],
    ]
] = {
    "context": (with_context, largest_context),
    "sequences": (_with_sequences, largest_concurrency),
}


def _steps(farthest: int) -> tuple[int, ...]:
    """Return even steps from 1 to a quarter beyond the farthest value.

    >>> _steps(4)
    (1, 2, 3, 4, 5)
    """
    end = min(farthest + max(1, farthest // 4), MAX_TOKENS)
    return tuple(sorted({1 + (end - 1) * step // NUM_STEPS for step in range(NUM_STEPS + 1)}))
