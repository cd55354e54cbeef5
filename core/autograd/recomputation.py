"""Activation checkpointing, measured: bytes kept and FLOPs against the length of a segment."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from core.autograd.layer_stack import Stack
from core.autograd.lifetimes import Lifetimes, Moment

if TYPE_CHECKING:
    from torch import Tensor

NONE: Final = 0
"""The segment length of a run without checkpointing."""
NESTED: Final = -1
"""The "segment length" of a run in which each layer is recomputed from the input."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """A forward and a backward pass that really ran."""

    segment: int  # layers per checkpoint segment; `NONE` or `NESTED`
    moments: tuple[Moment, ...] = field(repr=False)  # what was alive after each operation

    @property
    def held(self) -> int:
        """Bytes of activations that are kept when the forward pass is done."""
        return [each for each in self.moments if each.phase == "forward"][-1].num_bytes

    @property
    def peak(self) -> int:
        """Most bytes of activations that are kept at any moment."""
        return max(each.num_bytes for each in self.moments)

    @property
    def flops(self) -> int:
        """FLOPs of everything that ran."""
        return sum(each.flops for each in self.moments)

    @property
    def flops_recomputed(self) -> int:
        """FLOPs of what ran a second time."""
        return sum(each.flops for each in self.moments if each.phase == "recompute")


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """The same stack without and with checkpointing."""

    plain: Run  # without
    checkpointed: Run  # with
    largest_difference: float  # between any two gradients of a weight

    @property
    def extra_flops(self) -> float:
        """FLOPs that checkpointing adds, as a share of those without."""
        return self.checkpointed.flops / self.plain.flops - 1


def compare(stack: Stack, segment: int) -> Comparison:
    """Run a stack without and with checkpoints, and compare the gradients of its weights.

    Args:
        stack: What is run.
        segment: Layers per checkpoint segment.

    Raises:
        ValueError: If the segment is empty or longer than the stack.
    """
    weights = stack.weights()
    plain = run(stack, NONE, weights)
    wanted = [weight.grad for weight in weights]
    for weight in weights:
        weight.grad = None
    checkpointed = run(stack, segment, weights)
    differences = [
        float((weight.grad - other).abs().max())
        for weight, other in zip(weights, wanted, strict=True)
        if weight.grad is not None and other is not None
    ]
    return Comparison(plain=plain, checkpointed=checkpointed, largest_difference=max(differences))


def sweep(stack: Stack) -> tuple[Run, ...]:
    """Return runs without checkpoints, with segments of 1, 2, 4 ... all layers, and nested.

    They run on torch's meta device: bytes and FLOPs do not depend on the numbers.
    """
    stack = replace(stack, on_meta=True)
    powers = [2**power for power in range(stack.num_layers.bit_length())]
    segments = sorted({*powers, stack.num_layers})
    return tuple(run(stack, segment) for segment in (NONE, *segments, NESTED))


def run(stack: Stack, segment: int, weights: Sequence["Tensor"] = ()) -> Run:
    """Run a stack forward and backward and return what was kept.

    Args:
        stack: What is run.
        segment: Layers per checkpoint segment; `NONE` or `NESTED`.
        weights: Of the stack, if the caller wants their gradients.

    Raises:
        ValueError: If the segment is longer than the stack, or less than a layer.
    """
    if not NESTED <= segment <= stack.num_layers:
        raise ValueError(f"a segment has 1 to {stack.num_layers} layers, not {segment}")
    x, weights = stack.rows(), weights or stack.weights()
    lives = Lifetimes([x, *weights])
    with lives.watch():
        with lives.passing("forward"):
            loss = _forward(stack, x, weights, segment, lives).square().mean()
        lives.leave_out(loss)
        loss.backward()
    return Run(segment=segment, moments=lives.moments())


def _forward(
    stack: Stack, x: "Tensor", weights: Sequence["Tensor"], segment: int, lives: Lifetimes
) -> "Tensor":
    if segment == NONE:
        return stack.run(x, weights)
    if segment == NESTED:
        return _nested(stack, x, weights, lives)
    h = x
    for start in range(0, len(weights), segment):
        h = _checkpoint(stack.run, h, weights[start : start + segment], lives)
    return h


def _nested(stack: Stack, x: "Tensor", weights: Sequence["Tensor"], lives: Lifetimes) -> "Tensor":
    """Put everything below a layer into a checkpoint, in which everything below the next is ..."""
    if not weights:
        return x

    def from_the_input(x: "Tensor", weights: Sequence["Tensor"]) -> "Tensor":
        return stack.run(_nested(stack, x, weights[:-1], lives), weights[-1:])

    return _checkpoint(from_the_input, x, weights, lives)


def _checkpoint(
    layers: object, h: "Tensor", weights: Sequence["Tensor"], lives: Lifetimes
) -> "Tensor":
    from torch.utils.checkpoint import checkpoint

    def contexts() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
        return nullcontext(), lives.passing("recompute")

    # There is no dropout: no state of a random generator has to be kept.
    result: Tensor = checkpoint(
        layers, h, weights, use_reentrant=False, preserve_rng_state=False, context_fn=contexts
    )
    return result
