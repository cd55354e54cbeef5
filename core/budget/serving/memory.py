"""What serving keeps on one device, whether that fits, and how far it can be stretched.

None of this depends on the device: work it out once for a model and a plan, compare it with many.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

from core.budget.budget import Budget
from core.budget.check import check_choice
from core.budget.cluster import Cluster
from core.budget.item import Formula, Item, Number, as_guessed, estimated, is_uncertain, total
from core.budget.recipe import MAX_TOKENS
from core.budget.serving.kv_cache import kv_cache, recurrent_state
from core.budget.serving.plan import ServingPlan, with_context
from core.budget.share import check_split
from core.budget.weights.stored import serving_weights
from core.language import N_
from core.models.spec import ModelSpec

Change = Callable[[ServingPlan, int], ServingPlan]
Axis = Literal["context", "sequences"]
AXES: Final[tuple[Axis, ...]] = ("context", "sequences")
NUM_STEPS: Final = 48
MOST_SEQUENCES: Final = 1_000_000
# Engines read a long prompt in pieces (Agrawal et al. 2023, SARATHI).
PREFILL_PIECE: Final = 8192

WORK_SPACE: Final = Formula(
    "min(concurrency * prompt_len, piece)"
    " * 2 * (3 * hidden_dim + max(num_inner * ffn_dim + copies * hidden_dim, attention_dim))"
    " + concurrency * vocab_size * (2 + 4)"
)
_WORK: Final = N_(
    "the largest layer's inputs and results for one piece of the prompts, and the logits"
)
_MEMORY: Final = N_("everything that stays on the device while it serves")


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
    memory, device = serving_memory(spec, serving), cluster.device
    return Budget(
        name=spec.name, item=memory, stages=(memory,),
        capacity=device.memory_usable, capacity_band=device.memory_band,
    )  # fmt: skip


def check_group(spec: ModelSpec, serving: ServingPlan, cluster: Cluster) -> None:
    """Refuse a group of devices that cannot share the model.

    Raises:
        ValueError: With a sentence that says why.
    """
    check_split(spec, replace(cluster, tensor=serving.tensor, pipeline=1, expert=1))


def serving_memory(spec: ModelSpec, plan: ServingPlan) -> Item:
    """Return the bytes on one device: "weights", "KV cache", "recurrent state", "workspace".

    Raises:
        ValueError: If a format is unknown, or the heads cannot be split over the devices.
    """
    weights = serving_weights(spec, plan.weight_format, plan.tensor)
    parts = (weights, *growing_parts(spec, plan))
    return as_guessed(total("serving memory", parts, source=_MEMORY), spec)


def growing_parts(spec: ModelSpec, plan: ServingPlan) -> tuple[Item, ...]:
    """Return what grows with sequences and their length.

    "KV cache", "workspace" and between them, where there is one, "recurrent state", which does not
    grow with the length.

    Raises:
        ValueError: If the format of the cache is unknown.
    """
    cache = kv_cache(spec, plan.context, plan.concurrency, plan.kv_format, plan.tensor)
    state = recurrent_state(spec, plan.concurrency, plan.tensor)
    return cache, *state, work_space(spec, plan)


def work_space(spec: ModelSpec, plan: ServingPlan) -> Item:
    """Return the bytes of one forward pass beside weights and cache: an estimate for any engine.

    With fused kernels a pass of the dense modules of `core.models` takes so much within 2 %; code
    out of small operations takes more than twice as much.
    """
    mixture, tensor = spec.mixture, plan.tensor
    widths = [spec.ffn_dim] if spec.num_dense_layers else []
    copies = 0
    if mixture is not None:
        copies = mixture.experts_per_token  # each picked expert gets a copy of the token
        widths.append((copies + mixture.num_shared) * mixture.expert_dim)
    values: dict[str, Number] = {
        "concurrency": plan.concurrency,
        "prompt_len": plan.prompt_len,
        "piece": PREFILL_PIECE,
        "hidden_dim": spec.hidden_dim,
        "num_inner": 3 if spec.gated else 2,
        "ffn_dim": -(-max(widths, default=0) // tensor),
        "copies": copies,
        "attention_dim": -(-(2 * spec.num_heads + 2 * spec.num_kv_heads) * spec.head_dim // tensor),
        "vocab_size": -(-spec.vocab_size // tensor),
    }
    return estimated(N_("workspace"), WORK_SPACE, values, _WORK, (0.5, 1.5))


def largest_concurrency(spec: ModelSpec, serving: ServingPlan, cluster: Cluster) -> int:
    """Return how many sequences of the plan's length fit at once; 0 if not one does."""
    return _largest(spec, serving, cluster, _with_sequences, MOST_SEQUENCES)


def largest_context(spec: ModelSpec, serving: ServingPlan, cluster: Cluster) -> int:
    """Return how many tokens each of the plan's sequences may have; 0 if not one fits.

    The answer keeps its length as long as it can; the prompt gives way first. What the model was
    trained for is not asked here.
    """
    return _largest(spec, serving, cluster, with_context, MAX_TOKENS)


def _largest(
    spec: ModelSpec, serving: ServingPlan, cluster: Cluster, change: Change, most: int
) -> int:
    """Return the largest change whose cache and workspace fit beside the weights."""
    check_group(spec, serving, cluster)
    weights = serving_weights(spec, serving.weight_format, serving.tensor)

    def grown(amount: int) -> float:
        return sum(part.amount for part in growing_parts(spec, change(serving, amount)))

    room = cluster.device.memory_usable - weights.amount
    return bisect_right(range(1, most + 1), room, key=grown)


def _with_sequences(serving: ServingPlan, concurrency: int) -> ServingPlan:
    return replace(serving, concurrency=concurrency)


@dataclass(frozen=True, kw_only=True, slots=True)
class MemorySweep:
    """Bytes on one device over one setting, all others kept.

    Attributes:
        axis: What changes: tokens of each sequence, or sequences.
        values: Of that setting, growing evenly; the plan's own is one of them.
        caches: Bytes of the KV cache, and of fixed states, at each value.
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
    is_guess: bool = False


def memory_sweep(
    spec: ModelSpec, serving: ServingPlan, cluster: Cluster, axis: Axis = "context"
) -> MemorySweep:
    """Return the memory over the context or the sequences, some way beyond plan and capacity.

    Raises:
        ValueError: If the axis is unknown, or as `inference_budget`.
    """
    check_choice("axis", axis, AXES)
    check_group(spec, serving, cluster)
    change: Change
    if axis == "context":
        change, chosen, longest = with_context, serving.context, 4 * spec.seq_len
        largest = largest_context(spec, serving, cluster)
    else:
        change, chosen, longest = _with_sequences, serving.concurrency, MOST_SEQUENCES
        largest = largest_concurrency(spec, serving, cluster)
    values = tuple(sorted({chosen, *_steps(max(chosen, min(largest, longest)))}))
    grown = [growing_parts(spec, change(serving, value)) for value in values]
    return MemorySweep(
        axis=axis,
        values=values,
        weights=serving_weights(spec, serving.weight_format, serving.tensor).amount,
        caches=tuple(sum(part.amount for part in kept) for *kept, _work in grown),
        work_spaces=tuple(work.amount for *_kept, work in grown),
        capacity=cluster.device.memory_usable,
        chosen=chosen,
        largest=largest,
        is_guess=is_uncertain(spec),
    )


def _steps(farthest: int) -> tuple[int, ...]:
    """Return even steps from 1 to a quarter beyond the farthest value.

    >>> _steps(4)
    (1, 2, 3, 4, 5)
    """
    end = min(farthest + max(1, farthest // 4), MAX_TOKENS)
    return tuple(sorted({1 + (end - 1) * step // NUM_STEPS for step in range(NUM_STEPS + 1)}))
