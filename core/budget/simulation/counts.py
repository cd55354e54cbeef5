"""What torch counts on meta: FLOPs operation by operation, and the bytes that a layer keeps.

The closed forms are held against both. `FlopCounterMode` knows no CPU attention and skips what it
does not know without a word. The missing operations are registered here, and what looks like a
matrix product but is in no registry is named. It lengthens the lives of tensors, so it never runs
in the same pass as a memory trace.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode, flop_registry

from core.budget.recipe import TrainingRecipe
from core.budget.simulation.prepared import PreparedStep
from core.budget.simulation.tracker import StorageTracker
from core.models.spec import ModelSpec

_aten = torch.ops.aten
_PRODUCT_WORDS: Final = ("mm", "matmul", "bmm", "conv", "attention", "linear", "dot", "einsum")


@dataclass(frozen=True, kw_only=True, slots=True)
class CountedFlops:
    """What one forward and backward pass of one micro-batch cost.

    Attributes:
        forward: FLOPs of the forward pass.
        backward: FLOPs of the backward pass, what is computed again apart.
        recompute: FLOPs of the forward operations that checkpointing runs again.
        operations: FLOPs by operation, both passes.
        unknown: Operations that look like matrix products and were not counted; none is right.
    """

    forward: int
    backward: int
    recompute: int
    operations: Mapping[str, int]
    unknown: tuple[str, ...]


def counted_flops(spec: ModelSpec, recipe: TrainingRecipe) -> CountedFlops:
    """Run one micro-batch on meta and count its FLOPs.

    Attention counts every pair of tokens, also those that the causal mask hides.

    Raises:
        ValueError: If the recipe cannot be simulated; the sentence says why.
    """
    recipe = replace(recipe, optimizer="sgd")
    forward, backward, operations, unknown = _count(spec, recipe)
    if recipe.checkpointing == "none" and recipe.loss_chunks == 1:
        return CountedFlops(
            forward=forward,
            backward=backward,
            recompute=0,
            operations=operations,
            unknown=unknown,
        )
    plain = replace(recipe, checkpointing="none", loss_chunks=1)
    once = _count(spec, plain)[1]
    return CountedFlops(
        forward=forward,
        backward=once,
        recompute=backward - once,
        operations=operations,
        unknown=unknown,
    )


def _count(
    spec: ModelSpec, recipe: TrainingRecipe
) -> tuple[int, int, dict[str, int], tuple[str, ...]]:
    prepared = PreparedStep(spec, recipe).checkpointed()
    counter = FlopCounterMode(display=False, custom_mapping=MISSING)
    with _Names() as seen, counter:
        loss = prepared.forward()
        forward = counter.get_total_flops()
        loss.backward()
    by_operation = {
        str(operation): int(flops)
        for operation, flops in counter.get_flop_counts()["Global"].items()
    }
    backward = counter.get_total_flops() - forward
    return int(forward), int(backward), by_operation, _unknown(seen.operations)


class _Names(TorchDispatchMode):
    """Notes which operations ran."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's own
        self.operations: set[Any] = set()

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Any,  # noqa: ANN401  as torch declares it
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401  whatever the operation returns
        self.operations.add(func)
        return func(*args, **(kwargs or {}))


def _unknown(operations: set[Any]) -> tuple[str, ...]:
    known = {*flop_registry, *MISSING}
    missing = {str(each.overloadpacket) for each in operations if each.overloadpacket not in known}
    parts = {name: name.rpartition(".")[2].strip("_").split("_") for name in missing}
    return tuple(sorted(n for n, words in parts.items() if set(words) & set(_PRODUCT_WORDS)))


def _attention_flops(q: Any, k: Any, v: Any, *_: Any, **__: Any) -> int:  # noqa: ANN401  shapes
    """Two products: queries with keys, weights with values."""
    batch, heads, length, width = q
    return int(2 * batch * heads * length * k[2] * (width + v[3]))


def _attention_backward_flops(_grad: Any, q: Any, k: Any, v: Any, *_: Any, **__: Any) -> int:  # noqa: ANN401  shapes
    """Five products: the scores again, and the gradients of values, weights, queries and keys."""
    batch, heads, length, width = q
    return int(2 * batch * heads * length * k[2] * (3 * width + 2 * v[3]))


MISSING: Final[dict[Any, Any]] = {
    _aten._scaled_dot_product_flash_attention_for_cpu: _attention_flops,
    _aten._scaled_dot_product_flash_attention_for_cpu_backward: _attention_backward_flops,
}


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
